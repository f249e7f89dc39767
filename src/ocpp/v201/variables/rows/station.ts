import type { VariableRow } from '../model.ts';

export const stationRows: readonly VariableRow[] = [];
