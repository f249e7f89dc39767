import { useRef } from 'preact/hooks';
import { get } from '../../api/call';
import { useBox } from '../../kit/box';
import { Empty, Panel } from '../../kit/panel';
import { Plot } from '../../kit/plot';
import { Loading } from '../../kit/states';
import type { Mark, Point } from '../../kit/plot';
import { show } from '../../look/format';
import { useLive } from '../../store/live';
import { lastOf } from './samples';
import type { Samples } from './samples';

const trailS = 60;

/** Size of the drawing before its room is known, and its largest height, px. */
const [defaultPx, maxPx] = [420, 480];

function circle(radius: number): readonly Point[] {
  return Array.from({ length: 73 }, (_unused, index) => {
    const angle = (index / 72) * 2 * Math.PI;
    return [radius * Math.sin(angle), radius * Math.cos(angle)] as const;
  });
}

/**
 * Active over reactive power of a device: its circle of apparent power, present limits, the operating point and its
 * last minute.
 */
export function PlanePanel({
  device,
  name,
  samples,
}: {
  readonly device: number;
  readonly name: string;
  readonly samples: Samples | undefined;
}) {
  const available = useLive(get('controls/available', { query: { device } })).data;
  const plate = useLive(get('nameplate', { query: { device } }), 'once').data;
  const ref = useRef<HTMLDivElement>(null);
  const { widthPx } = useBox(ref);
  const va = plate?.settings.va_max_va ?? plate?.ratings.va_max_va ?? null;
  const width = widthPx || defaultPx;
  const height = Math.min(maxPx, Math.round(width * 0.86));
  if (samples === undefined || va === null) {
    return (
      <Panel title="P-Q plane">
        <div ref={ref}>
          {plate === undefined || va !== null ? (
            <Loading heights={[height]} />
          ) : (
            <Empty>The device has no rating of apparent power.</Empty>
          )}
        </div>
      </Panel>
    );
  }
  const recent = lastOf(samples, trailS);
  const [p, q] = [recent.column('power_kw') ?? [], recent.column('reactive_power_kvar') ?? []];
  const trail = p.map((power, index): Point => [q[index] ?? 0, power ?? 0]);
  const current = trail.at(-1) ?? [0, 0];
  const radius = va / 1000;
  const reach = radius * 1.1;
  const marks: Mark[] = [
    {
      kind: 'line',
      points: circle(radius),
      colour: 'var(--muted)',
      dashed: true,
      title: `apparent power ${show(radius, 'apparentPower')}`,
    },
    ...(available === undefined
      ? []
      : [
          {
            kind: 'area' as const,
            colour: 'var(--good)',
            title: 'available now',
            points: [
              [-available.absorb_kvar, available.inject_kw],
              [available.inject_kvar, available.inject_kw],
              [available.inject_kvar, -available.absorb_kw],
              [-available.absorb_kvar, -available.absorb_kw],
            ] as const,
          },
        ]),
    { kind: 'rule', x: 0, colour: 'var(--muted)' },
    { kind: 'rule', y: 0, colour: 'var(--muted)' },
    { kind: 'line', points: trail, colour: 'var(--accent)', width: 1.5, title: 'last minute' },
    {
      kind: 'dot',
      at: current,
      colour: 'var(--accent)',
      title: `${show(current[1], 'activePower')}, ${show(current[0], 'reactivePower')}`,
    },
  ];
  return (
    <Panel title={`P-Q plane of ${name}`}>
      <div ref={ref}>
        <Plot
          label={`Active over reactive power of ${name}`}
          x={{ label: 'Reactive power', unit: 'kvar', min: -reach, max: reach }}
          y={{ label: 'Active power', unit: 'kW', min: -reach, max: reach }}
          marks={marks}
          width={width}
          height={height}
        >
          <span data-test="plane-point">
            {show(current[1], 'activePower')}, {show(current[0], 'reactivePower')}
          </span>
          {available && (
            <>
              {' '}
              · available {show(available.inject_kw, 'activePower')} out, {show(available.absorb_kw, 'activePower')} in
            </>
          )}
        </Plot>
      </div>
    </Panel>
  );
}
