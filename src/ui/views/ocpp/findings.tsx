import { del, get } from '../../api/call';
import { Action } from '../../kit/action';
import { Panel } from '../../kit/panel';
import { Table } from '../../kit/table';
import { dash, wallTime } from '../../look/format';
import { useLive } from '../../store/live';
import type { PartProps } from './types';

/** Violations of the specification by the central system. */
export function Findings({ status }: PartProps) {
  const params = { id: status.id };
  const { data } = useLive(get('ocpp/{id}/findings', { params }), 2000);
  return (
    <Panel
      title="Findings about the central system"
      flush
      wide
      tools={<Action call={del('ocpp/{id}/findings', { params })}>Forget findings</Action>}
    >
      <Table
        name="Findings"
        rows={data?.findings ?? []}
        keyOf={({ id }) => id}
        empty="The central system has done nothing against the specification so far."
        columns={[
          { title: 'Time', cell: (each) => wallTime(each.timestamp), value: (each) => each.timestamp },
          { title: 'Kind', cell: ({ kind }) => kind, value: ({ kind }) => kind },
          { title: 'Action', cell: ({ action }) => action ?? dash, value: ({ action }) => action },
          { title: 'Clause', cell: ({ clause }) => clause, value: ({ clause }) => clause },
          { title: 'Finding', cell: ({ text }) => text, value: ({ text }) => text },
          {
            title: 'Message id',
            cell: (each) => <code>{each.message_id ?? dash}</code>,
            value: (each) => each.message_id,
          },
        ]}
      />
    </Panel>
  );
}
