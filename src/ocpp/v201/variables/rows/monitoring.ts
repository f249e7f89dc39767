import type { VariableRow } from '../model.ts';

export const monitoringRows: readonly VariableRow[] = [];
