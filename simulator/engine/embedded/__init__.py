"""An OpenAI-compatible engine in this package: vLLM's scheduler and a cost model in place of a GPU.

It is an emulation and says so: /version carries `"emulated": true`, /metrics has `embedded:` series, and every run made
with it is marked. Its words mean nothing; its queueing, batching, caching, preemption and chunk timing are modelled.
"""
