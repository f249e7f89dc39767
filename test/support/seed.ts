/** The one number from which all random cases of a run derive: `FC_SEED`; else the same in each run. */
export const runSeed = Number(process.env['FC_SEED'] ?? 20_260_621) | 0;
