import { get, post } from '../../api/call';
import { Action, Refused } from '../../kit/action';
import { Form } from '../../kit/form';
import { Facts, Panel } from '../../kit/panel';
import { fixed, show, words } from '../../look/format';
import { useLive } from '../../store/live';
import { DcCurve } from './pv';
import { Gauge, setBy } from './page';
import type { PageProps } from './page';

const modes = { FC: 'fuel cell', EL: 'electrolyser', idle: 'idle' } as const;

/** Stack, hydrogen and tank of a fuel cell or electrolyser. */
export function FuelCellPage({ device }: PageProps) {
  const query = { device: device.device_index };
  const { data, problem } = useLive(get('fuelcell', { query }));
  if (data === undefined) return <Refused problem={problem} />;
  const reversible = data.operating_mode === 'bidirectional';
  return (
    <>
      <DcCurve device={device.device_index} port={0} title="Polarisation: current over voltage" />
      <Panel title="Stack">
        <Facts
          rows={[
            ['Mode', <span data-test="fc-mode">{modes[data.mode]}</span>],
            ['State', words(data.state)],
            ['Stack power', <span data-test="fc-power">{show(data.stack_power_kw, 'activePower')}</span>],
            ['Stack voltage', show(data.stack_voltage_v, 'voltage')],
            ['Stack current', show(data.stack_current_a, 'current')],
            ['Stack temperature', show(data.stack_temperature_c, 'temperature')],
            ['Efficiency', show(data.efficiency_pct, 'percent')],
            ['Ramp', data.ramp_limited ? 'limits the power' : 'does not limit the power'],
            [
              'Change of direction',
              data.dwell_remaining_s > 0 ? `waits ${show(data.dwell_remaining_s, 'seconds')}` : 'free',
            ],
            ['Kind', `${data.chemistry}, ${data.cell_count} cells, ${words(data.operating_mode)}, fuel ${data.fuel}`],
            [
              'Rated',
              `${show(data.rated_power_kw, 'activePower')}, as electrolyser ${show(data.rated_el_power_kw, 'activePower')}`,
            ],
          ]}
        />
      </Panel>
      <Panel title="Set-point">
        <Facts
          rows={[
            ['Stack', <span data-test="fc-setpoint">{show(data.setpoint_kw, 'activePower')}</span>],
            ['AC', show(data.setpoint_ac_kw, 'activePower')],
            ['Set by', setBy(data.setpoint_by)],
          ]}
        />
        <Form
          fields={[
            {
              kind: 'number',
              name: 'power_kw',
              label: 'Stack power',
              unit: 'kW',
              ...(reversible && { hint: 'Negative: electrolyser.' }),
            },
          ]}
          call={(values) => post('fuelcell/setpoint', { query, body: values })}
          submit="Set power"
        >
          <Action call={post('fuelcell/setpoint', { query, body: { power_kw: null } })}>End set-point</Action>
        </Form>
      </Panel>
      <Panel title="Hydrogen">
        {data.tank_level_pct !== null && (
          <Gauge
            label="Tank level"
            value={data.tank_level_pct}
            text={`${show(data.tank_level_pct, 'percent')} ${words(data.tank_state)}`}
          />
        )}
        <Facts
          rows={[
            ['Flow', `${fixed(data.h2_flow_kg_h, 3)} kg/h ${data.h2_flow_kg_h < 0 ? 'produced' : 'consumed'}`],
            [
              'In the tank',
              data.tank_mass_kg === null
                ? 'continuous supply, no tank'
                : `${fixed(data.tank_mass_kg, 3)} kg, ${fixed(data.tank_pressure_bar, 1)} bar`,
            ],
          ]}
        />
        <Form
          fields={[{ kind: 'number', name: 'level_pct', label: 'Tank level', unit: '%', min: 0, max: 100 }]}
          call={(values) => post('fuelcell/tank', { query, body: values as never })}
          submit="Set tank"
        />
      </Panel>
    </>
  );
}
