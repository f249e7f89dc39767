/** Configuration keys of a station, and its lists. */
import { anyCall, get } from '../../../api/call';
import type { Call } from '../../../api/call';
import { Form } from '../../../kit/form';
import { Panel } from '../../../kit/panel';
import { Table } from '../../../kit/table';
import { capitalized, dash, dateAndTime, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { param, setParam } from '../../../store/route';
import type { PartProps } from './connection';

interface Entry {
  readonly name: string;
  readonly value: string | null;
  readonly access: string;
  readonly needsReboot: boolean;
  /** members of a request for a change, except the value */
  readonly target: Readonly<Record<string, unknown>>;
}

/** Keys of 1.6 or variables of 2.x, with search and change. */
export function Configuration({ status }: PartProps) {
  const { data } = useLive(get('ocpp/{id}/configuration', { params: { id: status.id } }), 5000);
  const keys = (data?.keys ?? []).map(
    ({ key, value, readonly, reboot_required: needsReboot }): Entry => ({
      name: key,
      value,
      access: readonly ? 'read only' : 'read and write',
      needsReboot,
      target: { key },
    }),
  );
  const variables = (data?.variables ?? []).map((each): Entry => {
    const { component, variable, attribute, evse_id, connector_id, instance } = each;
    const optional = Object.entries({ evse_id, connector_id, instance }).filter(([, value]) => value !== null);
    const place = optional.map(([name, value]) => `${name} ${String(value)}`).join(', ');
    return {
      name: `${component}.${variable}${attribute === 'Actual' ? '' : ` ${attribute}`}${place === '' ? '' : ` (${place})`}`,
      value: each.value,
      access: each.mutability,
      needsReboot: each.reboot_required,
      target: { component, variable, attribute, ...Object.fromEntries(optional) },
    };
  });
  const all = [...keys, ...variables];
  const filterText = (param('key-find') ?? '').toLowerCase();
  const matching = all.filter(({ name }) => name.toLowerCase().includes(filterText));
  const open = all.find(({ name }) => name === param('key'));
  const path = `ocpp/${encodeURIComponent(status.id)}/configuration`;
  return (
    <>
      {open && (
        <Panel title={`Change ${open.name}`} wide>
          <Form
            key={open.name}
            empties
            fields={[{ kind: 'text', name: 'value', label: 'Value', value: open.value ?? '' }]}
            submit="Change"
            call={({ value }) => anyCall('POST', path, {}, { ...open.target, value: String(value ?? '') })}
          />
        </Panel>
      )}
      <Panel
        title="Configuration"
        flush
        wide
        tools={
          <input
            type="search"
            aria-label="Find in the configuration"
            placeholder="Find"
            value={param('key-find') ?? ''}
            onInput={(event) => setParam('key-find', event.currentTarget.value)}
          />
        }
      >
        <Table
          name="Configuration"
          rows={matching}
          keyOf={({ name }) => name}
          height={480}
          selected={open?.name ?? null}
          empty="No name matches the search."
          columns={[
            {
              title: 'Name',
              cell: ({ name }) => (
                <button type="button" class="quiet" onClick={() => setParam('key', name === open?.name ? null : name)}>
                  {name}
                </button>
              ),
              value: ({ name }) => name,
            },
            { title: 'Value', value: ({ value }) => value },
            { title: 'Access', value: ({ access }) => access },
            {
              title: 'Needs a reboot',
              cell: ({ needsReboot }) => (needsReboot ? 'yes' : 'no'),
              value: ({ needsReboot }) => needsReboot,
            },
          ]}
        />
      </Panel>
    </>
  );
}

type Row = Readonly<Record<string, string | number | null>>;

interface ListProps {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly names: readonly string[];
  readonly empty: string;
}

/** Rows of an answer with a column for each name. */
/** Columns of instants, which are shown in the zone of the simulated clock. */
const instants: ReadonlySet<string> = new Set(['started_at', 'ended_at', 'expires_at', 'valid_from', 'valid_to']);

const textOf = (value: unknown) => (typeof value === 'string' ? value : null);

function List({ title, rows, names, empty }: ListProps) {
  return (
    <Panel title={title} flush wide>
      <Table
        name={title}
        rows={rows}
        keyOf={(row) => names.map((name) => row[name]).join(' ')}
        empty={empty}
        columns={names.map((name) => ({
          title: capitalized(words(name)),
          ...(instants.has(name) && { cell: (row: Row) => dateAndTime(textOf(row[name])) }),
          value: (row: Row) => row[name],
        }))}
      />
    </Panel>
  );
}

const useRows = <R,>(call: Call<R>): R | undefined => useLive(call, 2000).data;

/** Transactions, reservations, the local list and certificates. */
export function Lists({ status }: PartProps) {
  const params = { id: status.id };
  const transactions = useRows(get('ocpp/{id}/transactions', { params }))?.transactions;
  const reservations = useRows(get('ocpp/{id}/reservations', { params }))?.reservations;
  const local = useRows(get('ocpp/{id}/local-list', { params }));
  const certificates = useRows(get('ocpp/{id}/certificates', { params }))?.certificates;
  const tokens = ['id_token', 'status', 'expires_at', 'parent_id_token'];
  return (
    <>
      <List
        title="Transactions"
        rows={transactions ?? []}
        names={[
          'transaction_id',
          'connector_id',
          'id_token',
          'started_at',
          'ended_at',
          'meter_start_wh',
          'meter_stop_wh',
          'stop_reason',
          'queued',
        ]}
        empty="No transaction yet: plug a vehicle in at the device."
      />
      <List
        title="Reservations"
        rows={reservations ?? []}
        names={['reservation_id', 'connector_id', 'id_token', 'expires_at']}
        empty="No reservation: the central system makes them with ReserveNow."
      />
      <List
        title={`Local list, version ${local?.version ?? dash}`}
        rows={local?.entries ?? []}
        names={tokens}
        empty="The local list is empty: the central system fills it with SendLocalList."
      />
      <List title="Authorization cache" rows={local?.cache ?? []} names={tokens} empty="No token is cached yet." />
      <List
        title="Certificates"
        rows={certificates ?? []}
        names={['use', 'subject', 'issuer', 'serial_number', 'valid_from', 'valid_to', 'fingerprint']}
        empty="No certificate: give --ocpp_cert and --ocpp_root_cert, or let the central system install one."
      />
    </>
  );
}
