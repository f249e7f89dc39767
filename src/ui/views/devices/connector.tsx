import { anyCall } from '../../api/call';
import type { Call, ReplyOf } from '../../api/call';
import { Action } from '../../kit/action';
import { Form } from '../../kit/form';
import type { Field, Values } from '../../kit/form';
import { Chip, Facts, Panel } from '../../kit/panel';
import type { Tone } from '../../kit/panel';
import { dash, digits, show, words } from '../../look/format';
import { setBy } from './set-by';

export type Connector = ReplyOf<'evse/{id}'>['connectors'][number];

interface ConnectorProps {
  readonly id: string;
  readonly connector: Connector;
}

const tones: Readonly<Record<string, Tone>> = {
  charging: 'good',
  faulted: 'bad',
  unavailable: 'off',
  available: 'muted',
};

const errorCodes =
  'ConnectorLockFailure EVCommunicationError GroundFailure HighTemperature InternalError LocalListConflict OtherError OverCurrentFailure OverVoltage PowerMeterFailure PowerSwitchFailure ReaderFailure ResetFailure UnderVoltage WeakSignal'.split(
    ' ',
  );

const vehicle: readonly Field[] = [
  { kind: 'text', name: 'id', label: 'Vehicle' },
  { kind: 'number', name: 'battery_capacity_kwh', label: 'Battery', unit: 'kWh' },
  { kind: 'number', name: 'soc_pct', label: 'Charge', unit: '%' },
  { kind: 'number', name: 'target_soc_pct', label: 'Target', unit: '%' },
  { kind: 'number', name: 'reserve_soc_pct', label: 'Reserve', unit: '%' },
  { kind: 'number', name: 'max_charge_kw', label: 'Max charge', unit: 'kW' },
  { kind: 'number', name: 'max_discharge_kw', label: 'Max discharge', unit: 'kW' },
  { kind: 'choice', name: 'phases', label: 'Phases', options: ['1', '3'] },
  { kind: 'text', name: 'departure_time', label: 'Departure', placeholder: '2026-06-21T18:00:00Z' },
];

function vehicleOf({ phases, ...rest }: Values): object {
  return phases === undefined ? rest : { ...rest, phases: Number(phases) };
}

/** One connector: state, vehicle, session, its powers, and what can be done at it. */
export function ConnectorCard({ id, connector }: ConnectorProps) {
  const { connector_id: cid, ev, session, cable, reservation } = connector;
  return (
    <Panel
      title={`Connector ${cid}`}
      wide
      tools={<Chip tone={tones[connector.status] ?? 'warn'}>{words(connector.status)}</Chip>}
    >
      <div class="split">
        <div class="stack">
          <Powers connector={connector} />
          <Facts
            rows={[
              ['Status', <span data-test={`status-${cid}`}>{words(connector.status)}</span>],
              [
                'Kind',
                `${connector.type.toUpperCase()} ${connector.standard}, ${show(connector.min_power_kw, 'activePower')} to ${show(connector.max_power_kw, 'activePower')}${connector.bidirectional ? ', bidirectional' : ''}`,
              ],
              [
                'Limit',
                <span
                  data-test={`limit-${cid}`}
                >{`${show(connector.limit_kw, 'activePower')}, ${connector.limit_source === 'none' ? 'nothing limits' : `by ${words(connector.limit_source)}`}`}</span>,
              ],
              [
                'Local limit',
                connector.local_limit_kw === null
                  ? dash
                  : `${show(connector.local_limit_kw, 'activePower')}, ${setBy(connector.local_limit_by)}`,
              ],
              [
                'Discharge',
                connector.discharge_kw === null
                  ? dash
                  : `${show(connector.discharge_kw, 'activePower')}, ${setBy(connector.discharge_by)}`,
              ],
              [
                'Current',
                `${connector.current_a.map((a) => digits(a, 1)).join(' / ')} A at ${show(connector.voltage_v, 'voltage')}`,
              ],
              [
                'Meter',
                `${show(connector.energy_wh / 1000, 'energy')} taken, ${show(connector.energy_export_wh / 1000, 'energy')} given`,
              ],
              [
                'Cable',
                `${cable.ev_plugged ? 'in the vehicle' : 'not in the vehicle'}, ${cable.evse_plugged ? 'in the station' : 'not in the station'}, ${cable.locked ? 'locked' : 'not locked'}`,
              ],
              ['Authorised', connector.authorized ? 'yes' : 'no'],
              [
                'Vehicle',
                ev === null
                  ? dash
                  : `${ev.id ?? 'without name'}: ${show(ev.soc_pct, 'soc')} of ${show(ev.battery_capacity_kwh, 'energy')}, target ${show(ev.target_soc_pct, 'soc')}, up to ${show(ev.max_charge_kw, 'activePower')}`,
              ],
              [
                'Session',
                session === null
                  ? dash
                  : `${session.transaction_id}: ${words(session.state)}, ${show(session.energy_wh / 1000, 'energy')}, token ${session.id_token ?? dash}`,
              ],
              [
                'Reservation',
                reservation === null ? dash : `${reservation.reservation_id} for ${reservation.id_token}`,
              ],
              connector.error_code === 'NoError'
                ? null
                : ['Fault', `${connector.error_code} ${connector.error_info ?? ''}`],
            ]}
          />
        </div>
        <Operations id={id} connector={connector} />
      </div>
    </Panel>
  );
}

function Powers({ connector }: { readonly connector: Connector }) {
  const { connector_id: cid } = connector;
  const powers = [
    ['Wanted', 'wanted', connector.wanted_kw],
    ['Possible', 'possible', connector.possible_kw],
    ['Allocated', 'allocated', connector.allocated_kw],
    ['Actual', 'actual', connector.power_kw],
  ] as const;
  return (
    <div class="tiles">
      {powers.map(([label, name, value]) => (
        <div key={name} class="tile">
          <div class="note">{label}</div>
          <div class="value" data-test={`${name}-${cid}`}>
            {show(value, 'activePower')}
          </div>
        </div>
      ))}
    </div>
  );
}

function Operations({ id, connector }: ConnectorProps) {
  const { connector_id: cid } = connector;
  const call = (operation: string, body: unknown = {}): Call =>
    anyCall('POST', `evse/${encodeURIComponent(id)}/connectors/${cid}/${operation}`, {}, body);
  const token: Field = { kind: 'text', name: 'id_token', label: 'Token' };
  const power: Field = { kind: 'number', name: 'power_kw', label: 'Power', unit: 'kW', min: 0 };
  const form = (
    title: string,
    operation: string,
    fields: readonly Field[],
    submit: string,
    open = false,
    end?: object,
  ) => (
    <details open={open} key={operation}>
      <summary>{title}</summary>
      <Form fields={fields} call={(values) => call(operation, values)} submit={submit}>
        {end && <Action call={call(operation, end)}>{`End ${title.toLowerCase()}`}</Action>}
      </Form>
    </details>
  );
  return (
    <div class="operations" role="group" aria-label={`Operations of connector ${cid}`}>
      <div class="row">
        <Action call={call('unplug')}>Unplug</Action>
        <Action call={call('suspend', { by: 'evse' })}>Suspend</Action>
        <Action call={call('resume', { by: 'evse' })}>Resume</Action>
        <Action call={call('suspend', { by: 'ev' })}>Vehicle suspends</Action>
        <Action call={call('resume', { by: 'ev' })}>Vehicle resumes</Action>
        <Action call={call('lock')}>Lock</Action>
        <Action call={call('unlock')}>Unlock</Action>
        <Action call={call('availability', { operative: !connector.operative })}>
          {connector.operative ? 'Take out of service' : 'Take into service'}
        </Action>
        <Action call={call('clear-fault')}>Clear fault</Action>
        <Action call={call('cancel-reservation')}>Cancel reservation</Action>
      </div>
      <details open={connector.ev === null}>
        <summary>Plug a vehicle</summary>
        <Form
          fields={vehicle}
          call={(values) => call('plug', Object.keys(values).length === 0 ? {} : { ev: vehicleOf(values) })}
          submit="Plug"
        />
      </details>
      {form('Authorise', 'authorize', [token], 'Authorise')}
      {form(
        'Start',
        'start',
        [token, { kind: 'check', name: 'authorize', label: 'Authorise first', value: true }],
        'Start session',
      )}
      {form('Stop', 'stop', [{ kind: 'text', name: 'reason', label: 'Reason' }, token], 'Stop session')}
      {form('Limit', 'limit', [power], 'Set limit', false, { power_kw: null })}
      {form('Discharge', 'discharge', [power], 'Set discharge', false, { power_kw: null })}
      <details>
        <summary>Change the vehicle</summary>
        <Form fields={vehicle} call={(values) => call('ev', vehicleOf(values))} submit="Change vehicle" />
      </details>
      {form(
        'Fault',
        'fault',
        [
          {
            kind: 'choice',
            name: 'error_code',
            label: 'Fault',
            options: errorCodes.map((code) => [code, code] as const),
            value: 'GroundFailure',
          },
          { kind: 'text', name: 'info', label: 'Text' },
          { kind: 'text', name: 'vendor_error_code', label: 'Code of the maker' },
        ],
        'Inject fault',
      )}
      {form(
        'Meter',
        'meter',
        [
          { kind: 'number', name: 'energy_wh', label: 'Meter', unit: 'Wh' },
          { kind: 'check', name: 'send', label: 'Send the value' },
        ],
        'Set meter',
      )}
      {form(
        'Reserve',
        'reserve',
        [
          { kind: 'number', name: 'reservation_id', label: 'Number', value: 1, step: 1 },
          token,
          { kind: 'number', name: 'expires_in_s', label: 'Expires in', unit: 's' },
        ],
        'Reserve',
      )}
    </div>
  );
}
