import type { VariableRow } from '../model.ts';

export const securityRows: readonly VariableRow[] = [];
