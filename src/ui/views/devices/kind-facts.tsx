/** Facts of the source behind a device, by its kind, with its curves. */
import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { get } from '../../api/call';
import type { Problem } from '../../api/call';
import { Facts, Panel } from '../../kit/panel';
import { Plot } from '../../kit/plot';
import type { Point } from '../../kit/plot';
import { Unread } from '../../kit/states';
import { dash, fixed, remaining, show, words } from '../../look/format';
import { useLive } from '../../store/live';
import { tick } from '../../store/stream';
import { ConnectorFacts } from './connector';
import { DcCurve } from './dc-curve';
import type { PageProps } from './page';

/** Height of the facts of a device, px. */
const factsPx = 260;

/** A panel of facts that have not been read. */
function UnreadFacts({ title, problem }: { readonly title: string; readonly problem: Problem | null }) {
  return (
    <Panel title={title}>
      <Unread problem={problem} heights={[factsPx]} />
    </Panel>
  );
}

function Battery({ device }: PageProps) {
  const { data: bank, problem } = useLive(get('controls/battery', { query: { device: device.device_index } }));
  if (bank === undefined) return <UnreadFacts title="Battery" problem={problem} />;
  return (
    <>
      <Panel title="Battery">
        <Facts
          rows={[
            ['Mode', `${words(bank.mode)}, ${bank.control}`],
            ['Power', show(bank.power_kw, 'activePower')],
            ['DC', `${show(bank.dc_voltage_v, 'voltage')}, ${show(bank.dc_current_a, 'current')}`],
            ['State', words(bank.state)],
            ['Inhibited by', bank.inhibit === 'none' ? 'nothing' : words(bank.inhibit)],
            [
              'Limits',
              `charge ${show(bank.max_charge_kw, 'activePower')}, discharge ${show(bank.max_discharge_kw, 'activePower')}`,
            ],
            [
              'Energy',
              `${show(bank.energy_available_kwh, 'energy')} of ${show(bank.capacity_kwh, 'energy')}, ${bank.chemistry.toUpperCase()}`,
            ],
            ['Health', `${show(bank.soh_pct, 'percent')}, ${fixed(bank.cycle_count, 0)} cycles`],
            ['Charged', show(bank.energy_charged_wh / 1000, 'energy')],
            ['Discharged', show(bank.energy_discharged_wh / 1000, 'energy')],
            ['Temperature', show(bank.temperature_c, 'temperature')],
            [
              'Cells',
              `${fixed(bank.cell_voltage_min_v, 3)} to ${fixed(bank.cell_voltage_max_v, 3)} V, mean ` +
                `${fixed(bank.cell_voltage_avg_v, 3)} V`,
            ],
          ]}
        />
      </Panel>
      {device.asset_type === 'battery' && (
        <DcCurve device={device.device_index} port={0} title="DC terminals: current over voltage" />
      )}
    </>
  );
}

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

function Wind({ device }: PageProps) {
  const query = { device: device.device_index };
  const { data, problem } = useLive(get('wind', { query }));
  const curve = useLive(get('wind/power-curve', { query }), 'once').data;
  const trail = useTrail(data && [data.wind_speed_m_s, data.mechanical_power_kw]);
  if (data === undefined) return <UnreadFacts title="Turbine" problem={problem} />;
  const powerCurve = (curve?.points ?? []).map((point): Point => [point.wind_speed_m_s, point.mechanical_power_kw]);
  return (
    <>
      <Panel title="Turbine">
        <Facts
          rows={[
            ['Wind at the hub', show(data.wind_speed_m_s, 'windSpeed')],
            ['Wind measured', show(data.wind_speed_measured_m_s, 'windSpeed')],
            ['Rotor speed', show(data.rotor_rpm, 'speed')],
            ['Generator speed', show(data.generator_rpm, 'speed')],
            ['Pitch', show(data.pitch_deg, 'angle')],
            ['Power coefficient', fixed(data.cp, 3)],
            ['Tip speed ratio', fixed(data.tip_speed_ratio, 2)],
            ['Mechanical power', show(data.mechanical_power_kw, 'activePower')],
            ['Electrical power', show(data.electrical_power_kw, 'activePower')],
            ['Reactive power', show(data.reactive_power_kvar, 'reactivePower')],
            ['Region', words(data.region)],
            ['State', words(data.state)],
            ['Low-voltage ride-through', words(data.lvrt_state)],
            ['Type, rating', `${data.turbine}, ${show(data.rated_power_kw, 'activePower')}`],
            ['Hub, rotor', `${fixed(data.hub_height_m, 1)} m high, ${fixed(data.rotor_diameter_m, 1)} m across`],
            data.dataset && [
              'Data',
              `${data.dataset.name}, at ${fixed(data.dataset.position, 0)} s, ×${fixed(data.dataset.time_scale, 0)}`,
            ],
          ]}
        />
      </Panel>
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
    </>
  );
}

const modes = { FC: 'fuel cell', EL: 'electrolyser', idle: 'idle' } as const;

function FuelCell({ device }: PageProps) {
  const { data, problem } = useLive(get('fuelcell', { query: { device: device.device_index } }));
  if (data === undefined) return <UnreadFacts title="Stack" problem={problem} />;
  return (
    <>
      <Panel title="Stack">
        <Facts
          rows={[
            ['Mode', modes[data.mode]],
            ['State', words(data.state)],
            ['Stack power', show(data.stack_power_kw, 'activePower')],
            ['Stack voltage', show(data.stack_voltage_v, 'voltage')],
            ['Stack current', show(data.stack_current_a, 'current')],
            ['Stack temperature', show(data.stack_temperature_c, 'temperature')],
            ['Efficiency', show(data.efficiency_pct, 'percent')],
            ['Ramp', data.ramp_limited ? 'limits the power' : 'does not limit the power'],
            ['Change of direction', data.dwell_remaining_s > 0 ? `waits ${remaining(data.dwell_remaining_s)}` : 'free'],
            ['Kind', `${data.chemistry}, ${data.cell_count} cells, ${words(data.operating_mode)}, fuel ${data.fuel}`],
            [
              'Rated',
              `${show(data.rated_power_kw, 'activePower')}, as electrolyser ${show(data.rated_el_power_kw, 'activePower')}`,
            ],
            [
              'Set-point',
              `stack ${show(data.setpoint_kw, 'activePower')}, AC ${show(data.setpoint_ac_kw, 'activePower')}`,
            ],
          ]}
        />
      </Panel>
      <DcCurve device={device.device_index} port={0} title="Polarisation: current over voltage" />
    </>
  );
}

function Hybrid({ device }: PageProps) {
  const { data, problem } = useLive(get('hybrid-dc', { query: { device: device.device_index } }));
  if (data === undefined) return <UnreadFacts title="Hybrid" problem={problem} />;
  const { pv, battery, inverter } = data;
  return (
    <>
      <Panel title="Hybrid">
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
      <Battery device={device} />
      <DcCurve device={device.device_index} port={0} title="PV: current over voltage" />
    </>
  );
}

function Pv({ device }: PageProps) {
  return (
    <>
      {Array.from({ length: Math.max(1, device.dc_port_count) }, (_unused, port) => (
        <DcCurve key={port} device={device.device_index} port={port} />
      ))}
    </>
  );
}

function Evse({ device }: PageProps) {
  const id = device.charge_point_id;
  const { data, problem } = useLive(id === null ? null : get('evse/{id}', { params: { id } }));
  const profiles = useLive(get('evse/profiles'), 'once').data?.profiles;
  if (data === undefined) return <UnreadFacts title="Station" problem={problem} />;
  return (
    <>
      <Panel title="Station">
        <Facts
          rows={[
            ['Power into vehicles', show(data.power_kw, 'activePower')],
            ['Rated', show(data.max_power_kw, 'activePower')],
            [
              'External limit',
              data.external_limit === null
                ? dash
                : `${show(data.external_limit.limit_kw, 'activePower')}, ${words(data.external_limit.decided_by)}`,
            ],
            ['Authority', words(data.authority)],
            [
              'Meter',
              `${show(data.energy_wh / 1000, 'energy')} imported, ` +
                `${show(data.energy_export_wh / 1000, 'energy')} exported`,
            ],
            ['Central system', data.ocpp === null ? 'none: OCPP is switched off' : words(data.ocpp.connection_state)],
            [
              'Profile',
              `${data.profile ?? dash} ${profiles?.find(({ name }) => name === data.profile)?.description ?? ''}`,
            ],
            ['Manufacturer', `${data.vendor} ${data.model}, firmware ${data.firmware_version}`],
            data.battery && [
              'Battery',
              `${show(data.battery.soc_pct, 'soc')} of ${show(data.battery.capacity_kwh, 'energy')}`,
            ],
          ]}
        />
      </Panel>
      {data.connectors.map((connector) => (
        <ConnectorFacts key={connector.connector_id} connector={connector} />
      ))}
    </>
  );
}

const byKind: Readonly<Record<PageProps['device']['asset_type'], ComponentType<PageProps>>> = {
  pv: Pv,
  battery: Battery,
  wind: Wind,
  fuelcell: FuelCell,
  'hybrid-dc': Hybrid,
  evse: Evse,
};

/** Facts and curves beyond the nameplate, by the kind of the device. */
export function KindFacts({ device }: PageProps) {
  const Kind = byKind[device.asset_type];
  return <Kind device={device} />;
}
