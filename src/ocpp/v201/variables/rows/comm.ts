import type { VariableRow } from '../model.ts';

export const commRows: readonly VariableRow[] = [];
