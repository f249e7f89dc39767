import { get, post } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Action, Refused } from '../../../kit/action';
import { Chip, Facts, Panel } from '../../../kit/panel';
import { RequestForm, labelOf } from '../../../kit/schema-form';
import { Table } from '../../../kit/table';
import { dash, dateAndTime, show, sourceName, words } from '../../../look/format';
import { useLive } from '../../../store/live';
import { param, setParam } from '../../../store/route';
import { useSchema } from '../../../store/schemas';
import { labelled } from './functions';

type Controls = ReplyOf<'evse/der-controls'>;

interface Row {
  readonly name: string;
  /** always a boolean: the text comes from the type of `control_ids`, a record of texts */
  readonly enabled: boolean | string;
  readonly source: string;
  readonly changedAt: string | null;
  /** OCPP control that last wrote the function */
  readonly controlId: string | null;
}

function rowsOf(controls: Controls): readonly Row[] {
  return Object.entries(controls).flatMap(([name, member]) => {
    if (typeof member !== 'object' || member === null || !('supported' in member) || !member.supported) return [];
    const { enabled, source, changed_at: changedAt } = member;
    return [{ name, enabled, source, changedAt, controlId: controls.control_ids[name] ?? null }];
  });
}

function stateOf(enabled: boolean | string): string {
  if (typeof enabled === 'string') return words(enabled);
  return enabled ? 'on' : 'off';
}

/** Grid-support functions of a station with the OCPP controls that set them, and the discharge limit. */
export function DerControls({ device }: { readonly device: number }) {
  const query = { device };
  const { data, problem } = useLive(get('evse/der-controls', { query }));
  const rows = data ? rowsOf(data) : [];
  return (
    <Panel title="DER controls" wide>
      <div class="stack">
        <Refused problem={problem} />
        <Facts
          rows={[
            [
              'Discharge limit of vehicles',
              <span class="row">
                <span data-test="discharge-limit">{show(data?.limit_max_discharge_pct, 'percent')}</span>
                <Action
                  call={post('evse/der-controls', { query, body: { limit_max_discharge_pct: null } })}
                  unable={data?.limit_max_discharge_pct == null ? 'There is no limit' : null}
                >
                  End this limit
                </Action>
              </span>,
            ],
          ]}
        />
        <Table<Row>
          name="DER controls"
          rows={rows}
          keyOf={({ name }) => name}
          height={240}
          selected={param('der-control')}
          onSelect={({ name }) => setParam('der-control', name)}
          columns={[
            { title: 'Function', cell: ({ name }) => words(name), value: ({ name }) => name },
            {
              title: 'State',
              cell: ({ enabled }) => <Chip tone={enabled === false ? 'off' : 'good'}>{stateOf(enabled)}</Chip>,
              value: ({ enabled }) => enabled,
            },
            { title: 'Set by', cell: ({ source }) => sourceName(source), value: ({ source }) => source },
            { title: 'At', cell: ({ changedAt }) => dateAndTime(changedAt), value: ({ changedAt }) => changedAt },
            {
              title: 'OCPP control',
              cell: ({ controlId }) => (controlId === null ? dash : <code>{controlId}</code>),
              value: ({ controlId }) => controlId,
            },
          ]}
        />
        <Change device={device} />
      </div>
    </Panel>
  );
}

/** A form for one function, with the members of the API description. */
function Change({ device }: { readonly device: number }) {
  const { schema, problem } = useSchema('EvseDerControlsRequest');
  const { properties = {} } = schema ? labelled(schema, () => true) : {};
  const control = param('der-control') ?? 'limit_max_discharge_pct';
  const member = properties[control];
  return (
    <>
      <Refused problem={problem} />
      {schema && (
        <label class="row">
          <span class="muted">Change</span>
          <select
            name="der-function"
            value={control}
            onChange={(event) => setParam('der-control', event.currentTarget.value)}
          >
            {Object.keys(properties).map((name) => (
              <option key={name} value={name}>
                {labelOf(name, properties[name] ?? {})}
              </option>
            ))}
          </select>
        </label>
      )}
      {member && (
        <RequestForm
          key={control}
          schema={{ type: 'object', properties: { [control]: member } }}
          call={(body) => post('evse/der-controls', { query: { device }, body })}
          submit="Set control"
        />
      )}
    </>
  );
}
