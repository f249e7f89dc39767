import { get, post } from '../../api/call';
import { Action, Refused } from '../../kit/action';
import { Form } from '../../kit/form';
import { Facts, Panel } from '../../kit/panel';
import { show, words } from '../../look/format';
import { useLive } from '../../store/live';
import { BatteryPage } from './battery';
import { DcCurve } from './pv';
import { setBy } from './page';
import type { PageProps } from './page';

const policies = ['self_consumption', 'pv_priority', 'manual'] as const;

/** Flows and dispatch of a DC-coupled hybrid, its modules and its battery. */
export function HybridPage({ device }: PageProps) {
  const query = { device: device.device_index };
  const { data, problem } = useLive(get('hybrid-dc', { query }));
  if (data === undefined) return <Refused problem={problem} />;
  const { pv, battery, inverter } = data;
  return (
    <>
      <Panel title="Flows" wide>
        <ol class="flows" aria-label="Power flows">
          <Flow name="PV" power={pv.power_kw} sense="to the bus" test="hybrid-pv" />
          <Flow
            name="Battery"
            power={battery.power_kw}
            sense={battery.power_kw < 0 ? 'from the bus' : 'to the bus'}
            test="hybrid-battery"
          />
          <Flow
            name="Inverter DC"
            power={inverter.dc_power_kw}
            sense={inverter.dc_power_kw < 0 ? 'to the bus' : 'from the bus'}
            test="hybrid-dc"
          />
          <Flow
            name="Inverter AC"
            power={inverter.ac_power_kw}
            sense={inverter.ac_power_kw < 0 ? 'from the grid' : 'to load and grid'}
            test="hybrid-ac"
          />
          <Flow name="Losses" power={data.losses_kw} sense="heat" test="hybrid-losses" />
        </ol>
        <Facts
          rows={[
            ['Bus voltage', show(data.bus_voltage_v, 'voltage')],
            [
              'PV available',
              `${show(pv.available_kw, 'activePower')}, curtailed ${show(pv.curtailed_kw, 'activePower')}`,
            ],
            [
              'PV',
              `${show(pv.voltage_v, 'voltage')}, ${show(pv.current_a, 'current')}, ${show(pv.irradiance_w_m2, 'irradiance')}`,
            ],
            [
              'Battery',
              `${words(battery.mode)}, ${show(battery.soc_pct, 'soc')} of ${battery.soc_min_pct} to ${battery.soc_max_pct} %`,
            ],
            [
              'Inverter',
              `${show(inverter.rated_kva, 'apparentPower')}, efficiency ` +
                `${show(inverter.efficiency_pct, 'percent')}${inverter.limited ? ', limited' : ''}`,
            ],
            ['Target', show(inverter.target_kw, 'activePower')],
          ]}
        />
      </Panel>
      <Panel title="Dispatch">
        <Facts
          rows={[
            ['Policy', <span data-test="hybrid-policy">{words(data.policy)}</span>],
            ['Set by', setBy(data.policy_by)],
          ]}
        />
        <div class="row">
          {policies.map((policy) => (
            <Action
              key={policy}
              call={post('hybrid-dc/dispatch', { query, body: { policy } })}
              pressed={policy === data.policy}
            >
              {words(policy)}
            </Action>
          ))}
        </div>
      </Panel>
      <Panel title="Manual target">
        <Facts
          rows={[
            ['Target', <span data-test="hybrid-target">{show(data.manual_target_kw, 'activePower')}</span>],
            ['Set by', setBy(data.manual_target_by)],
            ['Battery', `${show(data.manual_battery_kw, 'activePower')}, set by ${setBy(data.manual_battery_by)}`],
          ]}
        />
        <Form
          fields={[
            { kind: 'number', name: 'target_kw', label: 'AC output', unit: 'kW' },
            { kind: 'number', name: 'battery_kw', label: 'Battery', unit: 'kW', hint: 'Empty: follows the target.' },
          ]}
          call={(values) => post('hybrid-dc/manual', { query, body: values as never })}
          submit="Set target"
        />
        <p class="muted">Applies in policy manual only.</p>
      </Panel>
      <DcCurve device={device.device_index} port={0} title="PV: current over voltage" />
      <BatteryPage device={device} />
    </>
  );
}

interface FlowProps {
  readonly name: string;
  readonly power: number;
  readonly sense: string;
  readonly test: string;
}

function Flow({ name, power, sense, test }: FlowProps) {
  return (
    <li class="tile">
      <div>{name}</div>
      <div class="value" data-test={test}>
        {show(power, 'activePower')}
      </div>
      <div class="note">{power === 0 ? 'no flow' : sense}</div>
    </li>
  );
}
