/** Parts that the pages of several kinds of devices have. */
import type { DeviceEntry } from '../../store/site';
import { timeOfDay } from '../../look/format';

/** Properties of the page of each kind of device. */
export interface PageProps {
  readonly device: DeviceEntry;
}

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

interface GaugeProps {
  readonly label: string;
  /** percent */
  readonly value: number;
  /** the value as text */
  readonly text: string;
  /** lines across the bar */
  readonly marks?: readonly { readonly at: number | null; readonly name: string }[];
}

/** A level from 0 to 100 % with limits as lines. */
export function Gauge({ label, value, text, marks = [] }: GaugeProps) {
  const visible = marks.filter(({ at }) => at !== null);
  return (
    <div class="gauge">
      <div class="row">
        <span>{label}</span>
        <strong>{text}</strong>
      </div>
      <svg
        viewBox="0 0 100 8"
        preserveAspectRatio="none"
        role="img"
        aria-label={[`${label} ${text}`, ...visible.map(({ at, name }) => `${name} ${at} %`)].join(', ')}
      >
        <rect class="frame" width="100" height="8" />
        <rect class="level" width={Math.min(100, Math.max(0, value))} height="8" />
        {visible.map(({ at, name }) => (
          <line key={name} x1={at ?? 0} x2={at ?? 0} y1="0" y2="8">
            <title>{`${name} ${at} %`}</title>
          </line>
        ))}
      </svg>
      <div class="muted">{visible.map(({ at, name }) => `${name} ${at} %`).join(' · ')}</div>
    </div>
  );
}
