import { Chip, Facts, Panel } from '../../kit/panel';
import type { Tone } from '../../kit/panel';
import { dash, digits, show, words } from '../../look/format';
import type { Connector, ConnectorProps } from './connector-props';
import { Operations } from './operations';
import { setBy } from './set-by';

const tones: Readonly<Record<string, Tone>> = {
  charging: 'good',
  faulted: 'bad',
  unavailable: 'off',
  available: 'muted',
};

/** One connector: state, vehicle, session, powers and operations. */
export function ConnectorCard({ id, connector, central }: ConnectorProps) {
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
                `${connector.type.toUpperCase()} ${connector.standard}, ` +
                  `${show(connector.min_power_kw, 'activePower')} to ` +
                  `${show(connector.max_power_kw, 'activePower')}${connector.bidirectional ? ', bidirectional' : ''}`,
              ],
              [
                'Limit',
                <span data-test={`limit-${cid}`}>
                  {`${show(connector.limit_kw, 'activePower')}, ` +
                    (connector.limit_source === 'none' ? 'nothing limits' : `by ${words(connector.limit_source)}`)}
                </span>,
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
                `${cable.ev_plugged ? 'in the vehicle' : 'not in the vehicle'}, ` +
                  `${cable.evse_plugged ? 'in the station' : 'not in the station'}, ` +
                  (cable.locked ? 'locked' : 'not locked'),
              ],
              ['Authorised', connector.authorized ? 'yes' : 'no'],
              [
                'Vehicle',
                ev === null
                  ? dash
                  : `${ev.id ?? 'without name'}: ${show(ev.soc_pct, 'soc')} of ` +
                    `${show(ev.battery_capacity_kwh, 'energy')}, target ${show(ev.target_soc_pct, 'soc')}, up to ` +
                    show(ev.max_charge_kw, 'activePower'),
              ],
              [
                'Session',
                session === null
                  ? dash
                  : `${session.transaction_id}: ${words(session.state)}, ${show(session.energy_wh / 1000, 'energy')}, ` +
                    `token ${session.id_token ?? dash}`,
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
        <Operations id={id} connector={connector} central={central} />
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
