/** Exit codes of the process; `--help` explains them. */
export const exitCodes = { ok: 0, internal: 1, usage: 2, addressInUse: 3 } as const;
