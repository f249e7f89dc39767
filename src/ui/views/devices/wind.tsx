import { useEffect, useState } from 'preact/hooks';
import { get, post } from '../../api/call';
import { Action, Refused } from '../../kit/action';
import { Form } from '../../kit/form';
import { Facts, Panel } from '../../kit/panel';
import { Plot } from '../../kit/plot';
import type { Point } from '../../kit/plot';
import { fixed, show, words } from '../../look/format';
import { useLive } from '../../store/live';
import { tick } from '../../store/stream';
import { setBy } from './page';
import type { PageProps } from './page';

const trailLength = 120;

/** The operating points of the last ticks, newest last. */
function useTrail(point: Point | undefined): readonly Point[] {
  const [trail, setTrail] = useState<readonly Point[]>([]);
  const at = tick.value;
  useEffect(() => {
    if (point !== undefined) setTrail((before) => [...before, point].slice(-trailLength));
  }, [at, point?.[0], point?.[1]]);
  return trail;
}

/** Wind, rotor and power of a turbine; optionally a constant wind instead of the data. */
export function WindPage({ device }: PageProps) {
  const query = { device: device.device_index };
  const { data, problem } = useLive(get('wind', { query }));
  const curve = useLive(get('wind/power-curve', { query }), 'once').data;
  const trail = useTrail(data && [data.wind_speed_m_s, data.mechanical_power_kw]);
  if (data === undefined) return <Refused problem={problem} />;
  const powerCurve = (curve?.points ?? []).map((point): Point => [point.wind_speed_m_s, point.mechanical_power_kw]);
  return (
    <>
      <Panel title="Power over wind speed">
        <Plot
          width={420}
          height={280}
          label="Power over wind speed"
          x={{ label: 'Wind speed at the hub', unit: 'm/s', min: 0, max: 30 }}
          y={{
            label: 'Power on the rotor',
            unit: 'kW',
            min: Math.min(0, data.mechanical_power_kw),
            max: Math.max(data.rated_power_kw, data.mechanical_power_kw) * 1.2,
          }}
          marks={[
            {
              kind: 'line',
              points: powerCurve,
              colour: 'var(--muted)',
              dashed: true,
              title: 'Power curve',
            },
            ...trail.map((at): { kind: 'dot'; at: Point; colour: string; title: string; radius: number } => ({
              kind: 'dot',
              at,
              colour: 'var(--v)',
              title: 'Earlier',
              radius: 3,
            })),
            { kind: 'dot', at: [data.wind_speed_m_s, data.mechanical_power_kw], colour: 'var(--p)', title: 'Now' },
          ]}
        >
          Dashed: power in steady wind. Large point: now. Small points: since this page was opened.
        </Plot>
      </Panel>
      <Panel title="Turbine">
        <Facts
          rows={[
            ['Wind at the hub', <span data-test="wind-speed">{show(data.wind_speed_m_s, 'windSpeed')}</span>],
            ['Wind measured', show(data.wind_speed_measured_m_s, 'windSpeed')],
            ['Rotor speed', <span data-test="rotor-rpm">{show(data.rotor_rpm, 'speed')}</span>],
            ['Generator speed', show(data.generator_rpm, 'speed')],
            ['Pitch', show(data.pitch_deg, 'angle')],
            ['Power coefficient', fixed(data.cp, 3)],
            ['Tip speed ratio', fixed(data.tip_speed_ratio, 2)],
            ['Mechanical power', show(data.mechanical_power_kw, 'activePower')],
            ['Electrical power', <span data-test="wind-power">{show(data.electrical_power_kw, 'activePower')}</span>],
            ['Reactive power', show(data.reactive_power_kvar, 'reactivePower')],
            ['Region', words(data.region)],
            ['State', words(data.state)],
            ['Low-voltage ride-through', words(data.lvrt_state)],
            ['Type, rating', `${data.turbine}, ${show(data.rated_power_kw, 'activePower')}`],
            ['Hub, rotor', `${fixed(data.hub_height_m, 1)} m high, ${fixed(data.rotor_diameter_m, 1)} m across`],
          ]}
        />
      </Panel>
      <Panel title="Wind override">
        <Facts
          rows={[
            ['Source', <span data-test="wind-source">{words(data.source)}</span>],
            ['Override', show(data.override_wind_speed_m_s, 'windSpeed')],
            ['Set by', setBy(data.override_by)],
            data.dataset && [
              'Data',
              `${data.dataset.name}, at ${fixed(data.dataset.position, 0)} s, ×${fixed(data.dataset.time_scale, 0)}`,
            ],
          ]}
        />
        <Form
          fields={[
            { kind: 'number', name: 'wind_speed_m_s', label: 'Wind speed', unit: 'm/s', value: 10 },
            { kind: 'choice', name: 'height', label: 'Height', options: ['hub', 'anemometer'], value: 'hub' },
          ]}
          call={(values) => post('wind/override', { query, body: values as never })}
          submit="Set wind"
        >
          <Action call={post('wind/override', { query, body: { wind_speed_m_s: null } })}>End override</Action>
        </Form>
      </Panel>
    </>
  );
}
