import type { VariableRow } from '../model.ts';

export const txRows: readonly VariableRow[] = [];
