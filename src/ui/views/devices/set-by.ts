import { timeOfDay } from '../../look/format';

interface Source {
  readonly source: string;
  readonly source_detail: string | null;
  readonly changed_at: string;
}

/** The interface that set a value, and the time. */
export function setBy(by: Source | null): string {
  if (by === null) return '–';
  const detail = by.source_detail === null ? '' : ` (${by.source_detail})`;
  return `${by.source}${detail}, ${timeOfDay(by.changed_at)}`;
}
