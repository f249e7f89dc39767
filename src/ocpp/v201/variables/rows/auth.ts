import type { VariableRow } from '../model.ts';

export const authRows: readonly VariableRow[] = [];
