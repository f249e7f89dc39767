import type { Call } from '../../api/call';
import { get } from '../../api/call';
import { Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { dash, words } from '../../look/format';
import { useLive } from '../../store/live';
import type { PartProps } from './types';

type Row = Readonly<Record<string, string | number | null>>;

interface ListProps {
  readonly title: string;
  readonly rows: readonly Row[];
  readonly names: readonly string[];
  readonly empty: string;
}

/** Rows of an answer with a column for each name. */
function List({ title, rows, names, empty }: ListProps) {
  return (
    <Panel title={title} flush wide>
      <Table
        name={title}
        rows={rows}
        keyOf={(row) => names.map((name) => row[name]).join(' ')}
        empty={empty}
        columns={names.map((name) => ({
          title: words(name),
          cell: (row: Row) => row[name] ?? dash,
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
          ...['transaction_id', 'connector_id', 'id_token', 'started_at', 'ended_at'],
          ...['meter_start_wh', 'meter_stop_wh', 'stop_reason', 'queued'],
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
