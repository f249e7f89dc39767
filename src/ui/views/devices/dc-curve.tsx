import { get } from '../../api/call';
import { Refused } from '../../kit/action';
import { Facts, Panel } from '../../kit/panel';
import { Plot } from '../../kit/plot';
import type { Mark } from '../../kit/plot';
import { fixed, show } from '../../look/format';
import { useLive } from '../../store/live';

interface DcCurveProps {
  readonly device: number;
  readonly port: number;
  readonly title?: string;
}

/** Margin around the data, so that the curve does not touch the frame. */
const margin = 1.05;

/** Current over voltage at a DC port, with the operating point and the maximum power point. */
export function DcCurve({ device, port, title = `DC port ${port}: current over voltage` }: DcCurveProps) {
  const { data, problem } = useLive(get('dc-iv', { query: { device, port, points: 64 } }));
  if (data === undefined) {
    return (
      <Panel title={title}>
        <Refused problem={problem} />
      </Panel>
    );
  }
  const { curve, operating_point: point, mpp, kind } = data;
  const volts = [...curve.map(({ v }) => v), point.v];
  const amperes = [...curve.map(({ i }) => i), point.i];
  // the terminal voltage of a battery varies by a few volts only
  const fromZero = kind !== 'battery';
  const [low, high] = [fromZero ? 0 : Math.min(...volts) - 1, Math.max(...volts, 1)];
  const marks: Mark[] = [
    { kind: 'line', points: curve.map(({ v, i }) => [v, i]), colour: 'var(--v)', title: 'Curve' },
    {
      kind: 'dot',
      at: [point.v, point.i],
      colour: 'var(--p)',
      title: `Operating point: ${fixed(point.v, 1)} V, ${fixed(point.i, 1)} A`,
    },
  ];
  if (mpp) marks.splice(1, 0, { kind: 'rule', x: mpp.v, colour: 'var(--muted)', title: 'Maximum power' });
  return (
    <Panel title={title}>
      <Plot
        width={420}
        height={280}
        label={title}
        x={{ label: 'Voltage', unit: 'V', min: low, max: fromZero ? high * margin : high + 1 }}
        y={{
          label: 'Current',
          unit: 'A',
          min: Math.min(0, ...amperes) * margin,
          max: Math.max(...amperes, 1) * margin,
        }}
        marks={marks}
      />
      <Facts
        rows={[
          [
            'Operating point',
            <span
              data-test={`operating-point-${port}`}
            >{`${show(point.v, 'voltage')}, ${show(point.i, 'current')}, ${show(point.p / 1000, 'activePower')}`}</span>,
          ],
          mpp && ['Maximum power', `${show(mpp.p / 1000, 'activePower')} at ${show(mpp.v, 'voltage')}`],
          ['Open circuit', show(data.v_oc_v, 'voltage')],
          data.i_sc_a === null ? null : ['Short circuit', show(data.i_sc_a, 'current')],
          data.irradiance_w_m2 === null ? null : ['Irradiance', show(data.irradiance_w_m2, 'irradiance')],
          ['Cell temperature', show(data.cell_temperature_c, 'temperature')],
        ]}
      />
    </Panel>
  );
}
