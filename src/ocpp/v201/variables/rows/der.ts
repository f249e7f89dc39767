import type { VariableRow } from '../model.ts';

export const derRows: readonly VariableRow[] = [];
