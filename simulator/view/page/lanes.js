"use strict";
// Swim-lanes on a canvas: tens of thousands of bars that zoom and pan without a pause.
(() => {
  const GUTTER = 58, AXIS = 22;
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const seconds = (ms) => (ms < 1000 ? `${ms.toFixed(0)} ms` : ms < 100000 ? `${(ms / 1000).toPrecision(3)} s` : clock(ms));
  const clock = (ms) => {
    const s = Math.round(ms / 1000);
    return s < 3600 ? `${Math.floor(s / 60)}:${`${s % 60}`.padStart(2, "0")}` : `${Math.floor(s / 3600)}:${clock((s % 3600) * 1000).padStart(5, "0")}`;
  };
  const count = (n) => (n === null ? "–" : n.toLocaleString("en-US"));

  const open = (box) => {
    const d = JSON.parse(document.getElementById(box.dataset.lanes).textContent);
    const canvas = box.querySelector("canvas"), tip = box.querySelector(".tip"), pen = canvas.getContext("2d");
    const tall = d.lanes.length > 80 ? 8 : d.lanes.length > 36 ? 11 : 15;
    const N = 5; // numbers a bar
    const whole = [d.start, d.end];
    let view = [...whole], width = 0, colours = [], hidden = new Set(), hot = -1, drawing = 0;

    const x = (t) => GUTTER + ((t - view[0]) / (view[1] - view[0])) * (width - GUTTER);
    const time = (px) => view[0] + ((px - GUTTER) / (width - GUTTER)) * (view[1] - view[0]);
    const y = (lane) => AXIS + lane * tall;

    const fit = () => {
      const ratio = devicePixelRatio || 1;
      width = canvas.clientWidth;
      const height = AXIS + d.lanes.length * tall + 4;
      canvas.style.height = `${height}px`;
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
      pen.setTransform(ratio, 0, 0, ratio, 0, 0);
      colours = d.colours.map(style);
      paint(); // at once: a new size has emptied the canvas
    };

    const draw = () => {
      if (!drawing) drawing = requestAnimationFrame(paint);
    };

    const axis = (height) => {
      const step = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 15000, 30000, 60000, 120000, 300000,
        600000, 1800000, 3600000, 7200000].find((s) => ((view[1] - view[0]) / s) * 64 <= width - GUTTER) ?? 14400000;
      pen.textAlign = "center";
      pen.font = `11px ${style("--font")}`;
      for (let t = Math.ceil(view[0] / step) * step; t <= view[1]; t += step) {
        const at = x(t);
        pen.fillStyle = style("--line");
        pen.fillRect(Math.round(at), AXIS - 4, 1, height);
        pen.fillStyle = style("--faint");
        if (at < width - 18) pen.fillText(view[1] >= 600000 ? clock(t) : `${+(t / 1000).toFixed(3)} s`, at, 12);
      }
    };

    const labels = () => {
      pen.textAlign = "left";
      pen.fillStyle = style("--faint");
      pen.font = `${Math.min(11, tall - 1)}px ${style("--font")}`;
      const every = tall < 10 ? 4 : tall < 13 ? 2 : 1;
      d.lanes.forEach(([slot, track], lane) => {
        if (track) pen.fillText("└ sub", 4, y(lane) + tall - 3);
        else if (lane % every === 0) pen.fillText(`${d.place} ${slot}`, 0, y(lane) + tall - 3);
      });
    };

    const paint = () => {
      cancelAnimationFrame(drawing);
      drawing = 0;
      const height = d.lanes.length * tall;
      pen.clearRect(0, 0, width, height + AXIS + 4);
      if (d.window) {
        pen.fillStyle = style("--shade");
        const [a, b] = d.window.map((t) => Math.min(Math.max(x(t), GUTTER), width));
        pen.fillRect(a, AXIS - 4, b - a, height + 8);
      }
      axis(height + 8);
      labels();
      pen.save();
      pen.beginPath();
      pen.rect(GUTTER, 0, width - GUTTER, height + AXIS + 4);
      pen.clip();
      for (let i = 0; i < d.bars.length; i += N) bar(i);
      if (d.window) {
        pen.fillStyle = style("--accent");
        const [a, b] = d.window.map(x);
        pen.fillRect(a, AXIS - 5, b - a, 2);
        for (const edge of [a, b]) for (let at = AXIS - 5; at < height + AXIS + 4; at += 6) pen.fillRect(edge - 0.5, at, 1, 3);
      }
      pen.fillStyle = style("--ink");
      for (const [lane, t] of d.begins) pen.fillRect(x(t) - 0.5, y(lane) + 1, 1, tall - 2);
      pen.restore();
      canvas.dataset.drawn = d.bars.length / N;
      canvas.dataset.view = view.map(Math.round);
    };

    // A request fills its lane, tools and pauses are slimmer; what is too short to see is left to the zoom.
    const bar = (i) => {
      const what = d.bars[i + 1], from = x(d.bars[i + 2]), to = x(d.bars[i + 2] + d.bars[i + 3]);
      if (to < GUTTER || from > width || hidden.has(what)) return;
      const loud = d.loud.includes(what);
      const wide = loud ? Math.max(to - from, 3) : to - from;
      if (wide < 0.15) return;
      const slim = d.slim[what] * tall;
      pen.fillStyle = colours[what];
      pen.fillRect(from, y(d.bars[i]) + 1 + slim, wide, tall - 2 - 2 * slim);
      if (i === hot) {
        pen.strokeStyle = style("--ink");
        pen.strokeRect(from, y(d.bars[i]) + 1, Math.max(wide, 1), tall - 2);
      }
    };

    const under = (px, py) => {
      const lane = Math.floor((py - AXIS) / tall), t = time(px), slack = (time(px + 3) - time(px));
      let best = -1;
      if (px < GUTTER) return best;
      for (let i = 0; i < d.bars.length; i += N) {
        if (d.bars[i] !== lane || hidden.has(d.bars[i + 1])) continue;
        if (d.bars[i + 2] - slack <= t && t <= d.bars[i + 2] + d.bars[i + 3] + slack)
          if (best < 0 || d.bars[i + 3] < d.bars[best + 3] || t > d.bars[best + 2] + d.bars[best + 3]) best = i;
      }
      return best;
    };

    const told = (i) => {
      const [lane, what, start, length, about] = d.bars.slice(i, i + N);
      const lines = [`${d.what[what]} · ${seconds(length)}`];
      if (what === d.tool) {
        const t = d.tools;
        lines.push(`${d.names[t.session[about]]}, turn ${t.turn[about]}: ${d.names[t.tool[about]]}`);
        lines.push(`ran ${seconds(t.run[about])}, waited ${seconds(t.queue[about])}, held ${seconds(t.pace[about])}`);
        if (!t.matched[about]) lines.push("result differs from the recording");
      } else if (about >= 0) {
        const r = d.requests;
        lines.push(`${d.names[r.session[about]]}${r.branch[about] ? `, sub-agent ${r.branch[about]}` : ""}, turn ${r.turn[about]}` +
          (r.retry[about] ? `, attempt ${r.retry[about] + 1}` : ""));
        const share = r.cached[about] === null || !r.prompt[about] ? "" : `, ${((100 * r.cached[about]) / r.prompt[about]).toFixed(1)} % cached`;
        lines.push(`${count(r.prompt[about])} prompt tokens${share}; ${count(r.output[about])} out`);
        if (r.ttft[about] !== null) lines.push(`TTFT ${seconds(r.ttft[about])}`);
        if (d.names[r.error[about]]) lines.push(d.names[r.error[about]]);
        if (d.names[r.task[about]]) lines.push(d.names[r.task[about]]);
      }
      lines.push(`from ${(start / 1000).toFixed(3)} s`);
      return lines;
    };

    const show = (event) => {
      const at = canvas.getBoundingClientRect(), px = event.clientX - at.left, py = event.clientY - at.top;
      const found = under(px, py);
      if (found !== hot) {
        hot = found;
        draw();
      }
      tip.hidden = found < 0;
      if (found < 0) return;
      tip.replaceChildren(...told(found).map((line, n) => {
        const row = document.createElement(n ? "div" : "b");
        row.textContent = line;
        return row;
      }));
      tip.style.left = `${Math.max(0, Math.min(px + 12, width - tip.offsetWidth))}px`;
      tip.style.top = `${canvas.offsetTop + py + 16}px`;
    };

    const zoom = (factor, px = GUTTER + (width - GUTTER) / 2) => {
      const at = time(px), [a, b] = view;
      const span = Math.min(Math.max((b - a) * factor, 5), whole[1] - whole[0]);
      move(at - ((at - a) / (b - a)) * span, span);
    };
    const move = (start, span = view[1] - view[0]) => {
      const from = Math.min(Math.max(start, whole[0]), whole[1] - span);
      view = [from, from + span];
      tip.hidden = true;
      draw();
    };
    const actions = {
      in: () => zoom(0.5), out: () => zoom(2), all: () => move(whole[0], whole[1] - whole[0]),
      window: () => d.window && move(d.window[0], d.window[1] - d.window[0]),
    };
    box.querySelectorAll("button[data-do]").forEach((each) => each.addEventListener("click", actions[each.dataset.do]));
    box.querySelectorAll("button[data-what]").forEach((each) =>
      each.addEventListener("click", () => {
        const what = +each.dataset.what;
        hidden.has(what) ? hidden.delete(what) : hidden.add(what);
        each.setAttribute("aria-pressed", !hidden.has(what));
        draw();
      }));

    const fingers = new Map();
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      fingers.set(event.pointerId, event.offsetX);
    });
    const lift = (event) => fingers.delete(event.pointerId);
    canvas.addEventListener("pointerup", lift);
    canvas.addEventListener("pointercancel", lift);
    canvas.addEventListener("pointermove", (event) => {
      const before = fingers.get(event.pointerId);
      if (before === undefined) return show(event);
      const others = [...fingers].filter(([id]) => id !== event.pointerId);
      if (others.length) {
        const fixed = others[0][1];
        const gap = Math.max(Math.abs(before - fixed), 8), now = Math.max(Math.abs(event.offsetX - fixed), 8);
        zoom(gap / now, fixed);
      } else move(view[0] + time(before) - time(event.offsetX));
      fingers.set(event.pointerId, event.offsetX);
    });
    canvas.addEventListener("pointerleave", () => {
      tip.hidden = true;
      hot = -1;
      draw();
    });
    canvas.addEventListener("click", show);
    canvas.addEventListener("dblclick", (event) => zoom(0.4, event.offsetX));
    canvas.addEventListener("wheel", (event) => {
      const sideways = Math.abs(event.deltaX) > Math.abs(event.deltaY);
      if (event.ctrlKey || event.metaKey) zoom(Math.exp(event.deltaY * 0.004), event.offsetX);
      else if (sideways || event.shiftKey) move(view[0] + time((sideways ? event.deltaX : event.deltaY) + GUTTER) - time(GUTTER));
      else return; // the page scrolls
      event.preventDefault();
    }, { passive: false });
    canvas.addEventListener("keydown", (event) => {
      const far = (view[1] - view[0]) / 5;
      const keys = {
        "+": actions.in, "=": actions.in, "-": actions.out, 0: actions.all,
        ArrowLeft: () => move(view[0] - far), ArrowRight: () => move(view[0] + far),
      };
      if (!keys[event.key]) return;
      keys[event.key]();
      event.preventDefault();
    });
    new ResizeObserver(fit).observe(box);
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", fit);
    fit();
  };
  document.querySelectorAll("div.lanes").forEach(open);
})();
