"""Compiled kernels of the fluid engine.

================================  ==========================================================
`core.fluid.kernels.madd`         MADD: all flows of a coflow end together
`core.fluid.kernels.remaining`    remaining bytes per port, for MADD and its orders
`core.fluid.kernels.dclas`        D-CLAS: queues by attained bytes
`core.fluid.kernels.coflow_rates` rates inside a coflow: equal split, max-min
`core.fluid.kernels.backfill`     unused port capacity to waiting flows
`core.fluid.kernels.clock`        the clock: the next event
`core.fluid.kernels.completions`  flows and coflows that end on the way
`core.fluid.kernels.port_bits`    sets of ports
`core.fluid.kernels.bit_ops`      64-bit words
`core.fluid.kernels.flow_state`   state of the flow-level kernels
`core.fluid.kernels.fair`         max-min over all flows
`core.fluid.kernels.matching`     whole ports to the shortest flows
================================  ==========================================================
"""
