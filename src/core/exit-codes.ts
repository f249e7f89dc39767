/** Exit codes of the process; `--help` explains them. `killed` is how shells show SIGKILL. */
export const exitCodes = { ok: 0, internal: 1, usage: 2, addressInUse: 3, failed: 4, killed: 137 } as const;
