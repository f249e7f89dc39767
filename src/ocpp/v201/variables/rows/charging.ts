import type { VariableRow } from '../model.ts';

export const chargingRows: readonly VariableRow[] = [];
