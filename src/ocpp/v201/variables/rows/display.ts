import type { VariableRow } from '../model.ts';

export const displayRows: readonly VariableRow[] = [];
