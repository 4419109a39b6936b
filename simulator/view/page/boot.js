"use strict";
// Draws the page's Vega-Lite specs in its colours, again when the theme changes.
(() => {
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

  // "--agents" is a colour of the style sheet, except in data, which is nobody's to change.
  const painted = (value, key) => {
    if (key === "data" || key === "datasets") return value;
    if (typeof value === "string") return value.startsWith("--") ? style(value) || value : value;
    if (Array.isArray(value)) return value.map((each) => painted(each));
    if (value && typeof value === "object")
      return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, painted(each, name)]));
    return value;
  };

  const config = () => {
    const [ink, faint, line, font] = ["--ink", "--faint", "--line", "--font"].map(style);
    const words = { labelFont: font, titleFont: font, labelFontSize: 11, titleFontSize: 11, titleFontWeight: 500 };
    return {
      background: "transparent",
      font,
      view: { stroke: null },
      axis: {
        ...words, labelColor: faint, titleColor: faint, gridColor: line, domainColor: line, tickColor: line,
        tickSize: 4, labelPadding: 4, titlePadding: 8,
      },
      axisX: { grid: false },
      axisY: { domain: false, ticks: false },
      legend: { ...words, labelColor: ink, titleColor: faint, orient: "top", title: null, symbolStrokeWidth: 2, offset: 4 },
      header: { ...words, labelColor: ink, titleColor: faint },
      title: { font, fontSize: 12, fontWeight: 600, color: ink, anchor: "start", offset: 6 },
      range: { category: [1, 2, 3, 4, 5, 6, 7, 8].map((n) => style(`--c${n}`)) },
      line: { strokeWidth: 1.5 },
      text: { font, color: ink },
    };
  };

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const draw = () =>
    document.querySelectorAll("div.vega").forEach((place) => {
      const spec = JSON.parse(document.getElementById(place.dataset.spec).textContent);
      vegaEmbed(place, painted(spec), {
        actions: false, renderer: "svg", ast: true, config: config(), tooltip: { theme: dark.matches ? "dark" : "light" },
      }).then(
        () => place.classList.add("drawn"),
        (why) => {
          place.textContent = "This chart could not be drawn.";
          console.error(why);
        },
      );
    });
  dark.addEventListener("change", draw);
  draw();
})();
