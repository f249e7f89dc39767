/** Messages of a protocol on the wire: list, filter, follow, pause, and the chosen message decoded and raw. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { Call } from '../api/call';
import { param, setParam } from '../store/route';
import { useFollowed } from './follow';
import { Action, Refused, useDo } from './action';
import { say } from './notice';
import { Panel } from './panel';
import { Sequence } from './sequence';
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
  /** switches for the recording, which begins with the list; null: messages are always recorded */
  readonly recording: { readonly enabled: boolean | undefined; readonly on: Call; readonly off: Call } | null;
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
  /** true for the row that holds a message of the address; default: the row with its id */
  readonly holds?: (row: M, id: string) => boolean;
  /** draws the messages as a sequence in place of the list */
  readonly drawing?: (messages: readonly M[]) => Pick<SequenceContent, 'lifelines' | 'arrows'>;
}

interface Numbered {
  readonly id: number;
}

type SequenceContent = Parameters<typeof Sequence>[0];

/** Height of the list, px. */
const listPx = 480;

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
  holds = ({ id }, chosen) => String(id) === chosen,
  drawing,
}: MessagesProps<M>) {
  useRecording(title, recording);
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
  const chosen = param(chosenName);
  const open = chosen === null ? undefined : listed.find((row) => holds(row, chosen));
  const choose = (id: number) => setParam(chosenName, id === open?.id ? null : id);
  return (
    <div class={open ? 'messages open' : 'messages'}>
      <Panel
        title={title}
        flush
        wide
        tools={
          <>
            {recording && (
              <Action call={recording.enabled ? recording.off : recording.on} pressed={recording.enabled === true}>
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
        {drawing ? (
          <Sequence
            label={`Sequence of ${title}`}
            {...drawing(matching)}
            follow={follow && open === undefined}
            chosen={open?.id ?? null}
            onChoice={choose}
            empty={empty}
          />
        ) : (
          <Table
            name={title}
            columns={columns}
            rows={matching}
            keyOf={({ id }) => id}
            height={listPx}
            follow={follow && open === undefined}
            selected={open?.id ?? null}
            onSelect={({ id }) => choose(id)}
            empty={empty}
          />
        )}
      </Panel>
      {open && (
        <Panel title={`Message ${open.id}`} wide>
          {detail(open)}
        </Panel>
      )}
    </div>
  );
}

/** Begins to record when messages come into view, and says so. A recording that someone stops stays off. */
function useRecording(title: string, recording: MessagesProps<Numbered>['recording']): void {
  const { run } = useDo();
  const isSeen = useRef(false);
  const enabled = recording?.enabled;
  useEffect(() => {
    if (recording === null || enabled === undefined || isSeen.current) return;
    isSeen.current = true;
    if (!enabled) void run(recording.on).then((answer) => answer !== undefined && say(`Recording began: ${title}.`));
  }, [enabled]);
}
