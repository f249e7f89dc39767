/** The state folder: its size, a failure of the disk, and snapshots of the whole simulator. */
import { del, get, post } from '../../api/call';
import type { ReplyOf } from '../../api/call';
import { Action } from '../../kit/action';
import { Form } from '../../kit/form';
import type { Field } from '../../kit/form';
import { say } from '../../kit/notice';
import { Chip, Empty, Facts, Panel } from '../../kit/panel';
import { Unread } from '../../kit/states';
import { Table } from '../../kit/table';
import { ViewHead } from '../../kit/tabs';
import { dash, fixed, wallDate } from '../../look/format';
import { useLive } from '../../store/live';

type StateReply = ReplyOf<'state'>;
type Snapshot = StateReply['snapshots'][number];

const stateCall = get('state');
/** Scripts take snapshots too, ms. */
const paceMs = 2000;

/** `21.0 kB`; octets alone below 1 kB */
const size = (octets: number | null) => {
  if (octets === null) return dash;
  if (octets < 1000) return `${octets} octets`;
  return octets < 1_000_000 ? `${fixed(octets / 1000, 1)} kB` : `${fixed(octets / 1_000_000, 1)} MB`;
};

export default function State() {
  const { data, problem } = useLive(stateCall, paceMs);
  return (
    <>
      <ViewHead title="State" />
      {data === undefined ? <Unread problem={problem} heights={[200]} /> : <Kept state={data} />}
    </>
  );
}

function Kept({ state }: { readonly state: StateReply }) {
  if (!state.configured)
    return (
      <Empty>
        Everything is forgotten when the simulator ends: it was started without a state folder. The flag{' '}
        <code>--state_dir DIR</code> gives it one, and then snapshots can be taken here.
      </Empty>
    );
  return (
    <div class="stack">
      <Folder state={state} />
      <Snapshots state={state} />
      <Take />
    </div>
  );
}

function Folder({ state }: { readonly state: StateReply }) {
  return (
    <Panel
      title="State folder"
      tools={<Chip tone={state.failure === null ? 'good' : 'bad'}>{state.failure === null ? 'kept' : 'not kept'}</Chip>}
    >
      {state.failure !== null && (
        <p class="problem" role="alert">
          Changes are not written to the disk: {state.failure}. They would be lost at a restart.
        </p>
      )}
      <Facts
        rows={[
          ['Folder', <code key="folder">{state.folder ?? dash}</code>],
          ['Last write', wallDate(state.last_save)],
          ['Journal', `${size(state.octets)}, ${state.records ?? dash} records`],
        ]}
      />
    </Panel>
  );
}

function Snapshots({ state: { snapshots, can_restore: canRestore } }: { readonly state: StateReply }) {
  return (
    <Panel title="Snapshots" flush tools={<span class="muted">{snapshots.length}</span>}>
      <Table<Snapshot>
        name="Snapshots"
        rows={snapshots}
        keyOf={({ name }) => name}
        empty="There is no snapshot. One is a copy of the state of the whole simulator, to which it can return."
        columns={[
          { title: 'Name', value: ({ name }) => name },
          { title: 'Taken', cell: ({ taken_at }) => wallDate(taken_at), value: ({ taken_at }) => taken_at },
          { title: 'Size', numeric: true, cell: ({ octets }) => size(octets), value: ({ octets }) => octets },
          { title: 'Version', value: ({ version }) => version },
          {
            title: 'State',
            cell: ({ damage }) => (
              <Chip tone={damage === null ? 'good' : 'bad'}>
                <span title={damage ?? undefined}>{damage === null ? 'whole' : 'damaged'}</span>
              </Chip>
            ),
            value: ({ damage }) => damage,
          },
          { title: 'Actions', cell: (snapshot) => <SnapshotActions snapshot={snapshot} canRestore={canRestore} /> },
        ]}
      />
    </Panel>
  );
}

interface SnapshotActionsProps {
  readonly snapshot: Snapshot;
  readonly canRestore: boolean;
}

/** Reason for which a snapshot cannot be restored; null: it can. */
function unableToRestore({ snapshot: { damage }, canRestore }: SnapshotActionsProps): string | null {
  if (damage !== null) return damage;
  return canRestore ? null : 'This simulator cannot be built anew: a script or a scenario has started it.';
}

function SnapshotActions(props: SnapshotActionsProps) {
  const { name } = props.snapshot;
  return (
    <span class="row">
      <Action
        call={post('state/restore', { body: { name } })}
        unable={unableToRestore(props)}
        confirm={
          `Restart the simulator with the snapshot ${name}? Its peers lose their connections, and the present state is ` +
          'lost unless a snapshot has it.'
        }
        onDone={() => say(`The simulator restarts with the snapshot ${name}.`)}
      >
        Restore <span class="visually-hidden">{name}</span>
      </Action>
      <Action
        call={del('state/snapshots/{name}', { params: { name } })}
        confirm={`Delete the snapshot ${name} for good?`}
      >
        Delete <span class="visually-hidden">{name}</span>
      </Action>
    </span>
  );
}

const fields: readonly Field[] = [
  {
    name: 'name',
    label: 'Name',
    kind: 'text',
    value: 'before-test',
    hint: '1 to 64 letters, digits, - _ and .',
  },
  { name: 'overwrite', label: 'Replace a snapshot of this name', kind: 'check' },
];

function Take() {
  return (
    <Panel title="Take a snapshot">
      <Form
        fields={fields}
        submit="Take snapshot"
        call={({ name = '', overwrite }) =>
          post('state/snapshot', { body: { name: String(name), ...(overwrite === true && { overwrite }) } })
        }
        onDone={() => say('The snapshot is on disk.')}
      />
    </Panel>
  );
}
