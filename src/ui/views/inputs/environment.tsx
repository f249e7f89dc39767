import { get, post } from '../../api/call';
import { Action, Refused } from '../../kit/action';
import { Form } from '../../kit/form';
import type { Field } from '../../kit/form';
import { Facts, Panel } from '../../kit/panel';
import { show, words } from '../../look/format';
import { useLive } from '../../store/live';
import type { DeviceEntry } from '../../store/site';
import { DeviceAmong, Pair, ScopePicker, scopeQuery, useDeviceAmong, useScope, Writer } from './scope';

/** Names of the sources of irradiance and wind. */
const sources: ReadonlyMap<string, string> = new Map([
  ['const', 'constant'],
  ['csv', 'data'],
  ['clear_sky', 'clear sky'],
]);

const fields: readonly Field[] = [
  { kind: 'number', name: 'irradiance_w_m2', label: 'Irradiance', unit: 'W/m²', min: 0, max: 1500 },
  { kind: 'number', name: 'ambient_temperature_c', label: 'Ambient temperature', unit: '°C', min: -50, max: 90 },
  { kind: 'number', name: 'cell_temperature_c', label: 'Cell temperature', unit: '°C', min: -50, max: 90 },
  { kind: 'number', name: 'load_kw', label: 'Local load', unit: 'kW', min: 0 },
  {
    kind: 'choice',
    name: 'source',
    label: 'Irradiance from',
    options: [...sources],
  },
  { kind: 'number', name: 'ramp_s', label: 'Ramp', unit: 's', min: 0, max: 3600, placeholder: 'step' },
  { kind: 'number', name: 'duration_s', label: 'Duration', unit: 's', min: 0, placeholder: 'no end' },
];

/** Sun, temperatures and local load, for all devices or one. */
export function EnvironmentPanel() {
  const scope = scopeQuery(useScope());
  const { data, problem } = useLive(get('controls/environment', scope));
  return (
    <Panel title="Environment" tools={<ScopePicker />}>
      <Pair
        present={
          <>
            {data && (
              <Facts
                rows={[
                  ['Irradiance', show(data.irradiance_w_m2, 'irradiance')],
                  ['Ambient', show(data.ambient_temperature_c, 'temperature')],
                  ['Cell, fixed', show(data.cell_temperature_c, 'temperature')],
                  ['Local load', show(data.load_kw, 'activePower')],
                  ['Irradiance from', sources.get(data.source) ?? data.source],
                  ['Ramp left', show(data.ramp_remaining_s, 'seconds')],
                  [
                    'Time left',
                    data.duration_remaining_s === null ? 'no end' : show(data.duration_remaining_s, 'seconds'),
                  ],
                  ['Set by', <Writer by={data.changed_by} />],
                ]}
              />
            )}
            <Refused problem={problem} />
            <div class="row">
              <Action call={post('controls/environment', { ...scope, body: { irradiance_w_m2: null } })}>
                End irradiance override
              </Action>
              <Action call={post('controls/environment', { ...scope, body: { ambient_temperature_c: null } })}>
                End ambient override
              </Action>
              <Action call={post('controls/environment', { ...scope, body: { cell_temperature_c: null } })}>
                End cell temperature override
              </Action>
              <Action call={post('controls/environment', { ...scope, body: { load_kw: null } })}>
                End load override
              </Action>
            </div>
          </>
        }
      >
        <Form
          fields={fields}
          submit="Set the environment"
          call={(values) => post('controls/environment', { ...scope, body: values })}
        />
      </Pair>
    </Panel>
  );
}

const isWind = ({ asset_type }: DeviceEntry) => asset_type === 'wind';
const hasArray = ({ asset_type }: DeviceEntry) => asset_type === 'pv' || asset_type === 'hybrid-dc';

/** A constant wind instead of the data; hidden without a turbine. */
export function WindPanel() {
  const device = useDeviceAmong(isWind)?.device_index;
  const query = device === undefined ? {} : { device };
  const { data } = useLive(device === undefined ? null : get('wind', { query }));
  if (device === undefined) return null;
  return (
    <Panel title="Wind" tools={<DeviceAmong accept={isWind} />}>
      <Pair
        present={
          data && (
            <Facts
              rows={[
                ['At the hub', show(data.wind_speed_m_s, 'windSpeed')],
                ['Measured', show(data.wind_speed_measured_m_s, 'windSpeed')],
                ['Source', sources.get(data.source) ?? data.source],
                ['Override', show(data.override_wind_speed_m_s, 'windSpeed')],
                ['Set by', <Writer by={data.override_by} />],
              ]}
            />
          )
        }
      >
        <Form
          key={device}
          fields={[
            { kind: 'number', name: 'wind_speed_m_s', label: 'Wind speed', unit: 'm/s' },
            { kind: 'choice', name: 'height', label: 'Height', options: ['hub', 'anemometer'], value: 'hub' },
          ]}
          submit="Override the wind"
          call={(values) => post('wind/override', { query, body: values as { wind_speed_m_s: number } })}
        />
        <Action
          call={post('wind/override', { query, body: { wind_speed_m_s: null } })}
          disabled={data?.source !== 'override'}
        >
          End the override
        </Action>
      </Pair>
    </Panel>
  );
}

/** Shading of a part of every string; hidden without a PV array. */
export function ShadingPanel() {
  const device = useDeviceAmong(hasArray)?.device_index;
  const query = device === undefined ? {} : { device };
  const { data } = useLive(device === undefined ? null : get('controls/shading', { query }));
  if (device === undefined) return null;
  return (
    <Panel title="Shading" tools={<DeviceAmong accept={hasArray} />}>
      <Pair
        present={
          data && (
            <Facts
              rows={[
                ['Shaded modules', show(data.shaded_share * 100, 'percent')],
                ['Irradiance of shaded modules', show(data.irradiance_share * 100, 'percent')],
                ['MPP tracker', words(data.mppt_state)],
                ['Set by', <Writer by={data.changed_by} />],
              ]}
            />
          )
        }
      >
        <Form
          key={device}
          fields={[
            { kind: 'number', name: 'shaded_share', label: 'Shaded share', min: 0, max: 1, hint: '0 to 1' },
            {
              kind: 'number',
              name: 'irradiance_share',
              label: 'Irradiance share',
              min: 0,
              max: 1,
              hint: '0 to 1, 1 is full sun',
            },
            { kind: 'number', name: 'input', label: 'Input', min: 0, max: 11, step: 1, placeholder: 'all' },
          ]}
          submit="Shade"
          call={(values) =>
            post('controls/shading', { query, body: values as { shaded_share: number; irradiance_share: number } })
          }
        />
        <Action call={post('controls/shading', { query, body: { shaded_share: 0, irradiance_share: 1 } })}>
          End the shading
        </Action>
      </Pair>
    </Panel>
  );
}
