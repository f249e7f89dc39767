/** Messages of a protocol on the wire: list, filter, follow, pause, and the chosen message decoded and raw. */
import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import type { Call } from '../api/call';
import { param, setParam } from '../store/route';
import { useFollowed } from './follow';
import { Action, Refused } from './action';
import { Panel } from './panel';
import { Table } from './table';
import type { Column } from './table';

interface Page<M> {
  /** absent: the id of the last message */
  readonly last_id?: number;
  readonly dropped?: number;
  readonly messages: readonly M[];
}

interface MessagesProps<M> {
  readonly title: string;
  /** prefix of the settings of this list in the address */
  readonly name: string;
  /** call for the messages after an id; undefined: for the newest ones */
  readonly read: (afterId: number | undefined) => Call<Page<M>>;
  /** switches for the recording; null: messages are always recorded */
  readonly recording: { readonly enabled: boolean; readonly on: Call; readonly off: Call } | null;
  readonly columns: readonly Column<M>[];
  /** text that the filter searches */
  readonly textOf: (message: M) => string;
  readonly detail: (message: M) => ComponentChildren;
  /** selects messages, and may add members to them */
  readonly arrange?: (messages: readonly M[]) => readonly M[];
  /** additional filters for the present messages */
  readonly tools?: (messages: readonly M[]) => ComponentChildren;
  /** shown above the list */
  readonly note?: ComponentChildren;
  readonly empty: ComponentChildren;
}

/** Maximum number of messages in the page. */
const maxKept = 2000;

export function Messages<M extends { readonly id: number }>({
  title,
  name,
  read,
  recording,
  columns,
  textOf,
  detail,
  arrange = (all) => all,
  tools,
  note,
  empty,
}: MessagesProps<M>) {
  const [isPaused, setPaused] = useState(false);
  const [follow, setFollow] = useState(true);
  const [findName, chosenName] = [`${name}-find`, `${name}-message`];
  const text = param(findName) ?? '';
  const {
    rows: messages,
    problem,
    clear,
  } = useFollowed<M, Page<M>>({
    read,
    pieceOf: ({ messages: rows, last_id: lastId }) => ({ rows, lastId }),
    paused: isPaused,
    maxKept,
  });
  const filterText = text.toLowerCase();
  const listed = arrange(messages);
  const matching =
    filterText === '' ? listed : listed.filter((message) => textOf(message).toLowerCase().includes(filterText));
  const open = listed.find(({ id }) => String(id) === param(chosenName));
  return (
    <>
      <Panel
        title={title}
        flush
        wide
        tools={
          <>
            {recording && (
              <Action call={recording.enabled ? recording.off : recording.on} pressed={recording.enabled}>
                {recording.enabled ? 'Stop recording' : 'Record'}
              </Action>
            )}
            {tools?.(messages)}
            <input
              type="search"
              aria-label={`Find in ${title}`}
              placeholder="Find"
              value={text}
              onInput={(event) => setParam(findName, event.currentTarget.value)}
            />
            <button type="button" aria-pressed={follow} onClick={() => setFollow(!follow)}>
              Follow
            </button>
            <button type="button" aria-pressed={isPaused} onClick={() => setPaused(!isPaused)}>
              Pause list
            </button>
            <button type="button" onClick={clear}>
              Clear list
            </button>
          </>
        }
      >
        <Refused problem={problem} />
        {note}
        <Table
          name={title}
          columns={columns}
          rows={matching}
          keyOf={({ id }) => id}
          height={320}
          follow={follow && open === undefined}
          selected={open?.id ?? null}
          onSelect={({ id }) => setParam(chosenName, id === open?.id ? null : id)}
          empty={empty}
        />
      </Panel>
      {open && (
        <Panel title={`Message ${open.id}`} wide>
          {detail(open)}
        </Panel>
      )}
    </>
  );
}
