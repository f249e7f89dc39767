import { wallTime } from '../../look/format';
import type { CsipControl } from './types';

const colours: Readonly<Record<CsipControl['state'], string>> = {
  scheduled: 'var(--p)',
  active: 'var(--good)',
  completed: 'var(--off)',
  cancelled: 'var(--warn)',
  superseded: 'var(--q)',
  rejected: 'var(--bad)',
};

const [width, left, rowPx] = [900, 150, 26];
/** Maximum of events in the drawing; older ones are left out. */
const maxRows = 40;

interface TimelineProps {
  readonly controls: readonly CsipControl[];
  /** time of the server; null: unknown */
  readonly nowMs: number | null;
  readonly onChoose: (mrid: string) => void;
}

/** Events as bars with the word of their state, responses as marks, and the time of the server as a line. */
export function Timeline({ controls, nowMs, onChoose }: TimelineProps) {
  const shown = [...controls].sort((a, b) => a.effective_start.localeCompare(b.effective_start)).slice(-maxRows);
  const startOf = (each: CsipControl) => Date.parse(each.effective_start);
  const endOf = (each: CsipControl) => startOf(each) + each.effective_duration_s * 1000;
  const answered = shown.flatMap(({ responses }) => responses.map(({ created_at: at }) => Date.parse(at)));
  const from = Math.min(...shown.map(startOf), ...answered, nowMs ?? Infinity);
  const to = Math.max(...shown.map(endOf), ...answered, nowMs ?? -Infinity, from + 1000);
  const x = (ms: number) => left + ((ms - from) / (to - from)) * (width - left - 90);
  const height = shown.length * rowPx + 24;
  return (
    <figure class="plot timeline">
      <svg viewBox={`0 0 ${width} ${height}`} role="group" aria-label="Events over time">
        {shown.map((each, row) => {
          const y = row * rowPx + 4;
          const name = `${each.description ?? each.mrid}: ${each.state}, ${each.effective_start}, ${each.effective_duration_s} s`;
          return (
            <g key={`${each.mrid} ${each.end_device_lfdi}`} data-state={each.state} onClick={() => onChoose(each.mrid)}>
              <title>{name}</title>
              <text class="note" x={0} y={y + 13}>
                {(each.description ?? each.mrid).slice(0, 22)}
              </text>
              <rect
                x={x(startOf(each))}
                y={y}
                width={Math.max(2, x(endOf(each)) - x(startOf(each)))}
                height={16}
                rx={3}
                fill={colours[each.state]}
                fill-opacity={each.state === 'active' ? 1 : 0.55}
              />
              <text class="note" x={x(endOf(each)) + 6} y={y + 13}>
                {each.state}
              </text>
              {each.responses.map((response) => (
                <circle
                  key={`${response.status} ${response.created_at}`}
                  cx={x(Date.parse(response.created_at))}
                  cy={y + 8}
                  r={4}
                  fill="var(--surface)"
                  stroke="var(--text)"
                >
                  <title>{`response ${response.status} ${response.status_text}, ${response.result}, ${response.created_at}`}</title>
                </circle>
              ))}
            </g>
          );
        })}
        {nowMs !== null && (
          <line x1={x(nowMs)} x2={x(nowMs)} y1={0} y2={height - 18} stroke="var(--accent)" stroke-dasharray="4 3" />
        )}
        <text x={left} y={height - 4}>
          {wallTime(new Date(from).toISOString())}
        </text>
        <text x={width - 90} y={height - 4} text-anchor="end">
          {wallTime(new Date(to).toISOString())} UTC
        </text>
      </svg>
      <figcaption>
        Circles: responses. Dashed line:{' '}
        {nowMs === null ? 'no time of the server yet' : `server time ${wallTime(new Date(nowMs).toISOString())}`}.
      </figcaption>
    </figure>
  );
}
