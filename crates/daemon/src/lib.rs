//! The main loop: one task owns the core, turns its outputs into work and results into inputs.
