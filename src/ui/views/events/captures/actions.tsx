/** Actions on a capture: repeat its disturbance, pin it, take it elsewhere, delete it. */
import { useState } from 'preact/hooks';
import { anyCall, del, get, post } from '../../../api/call';
import type { Call, ReplyOf } from '../../../api/call';
import { Action } from '../../../kit/action';
import { Form } from '../../../kit/form';
import type { Field } from '../../../kit/form';
import { Menu } from '../../../kit/menu';
import { say } from '../../../kit/notice';
import { Dialog } from '../../../kit/panel';
import { termOf } from '../../../look/format';
import { useLive } from '../../../store/live';
import { go, href } from '../../../store/route';
import { repeatCall } from './repeat';
import type { Capture } from './verdict-words';

type Body = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Body => typeof value === 'object' && value !== null;

/** The members that a form edits: those of the parameters of an event, or of a change of the grid. */
function editedOf(body: Body): Body {
  return isObject(body['parameters']) ? body['parameters'] : 'event' in body ? {} : body;
}

function bodyWith(body: Body, edited: Body): Body {
  return 'event' in body ? { ...body, parameters: edited } : edited;
}

type EventKind = ReplyOf<'grid-events'>['events'][number];

function fieldOf(name: string, value: unknown, kind: EventKind | undefined): Field {
  const { term, unit } = termOf(name, typeof value === 'number');
  const base = { name, label: term };
  if (typeof value === 'number') return { ...base, kind: 'number', unit, value };
  if (typeof value === 'boolean') return { ...base, kind: 'check', value };
  const options = kind?.parameters.find((each) => each.name === name)?.allowed ?? null;
  if (options !== null) return { ...base, kind: 'choice', options, value: String(value) };
  return { ...base, kind: 'text', value: String(value) };
}

interface RepeatWithProps {
  readonly call: Call;
  readonly onClose: () => void;
}

/** The disturbance as a form with the values that it had. */
function RepeatWith({ call, onClose }: RepeatWithProps) {
  const body = call.body as Body;
  const events = useLive(get('grid-events'), 'once').data?.events;
  const kind = events?.find(({ name }) => name === body['event']);
  const defaults = Object.fromEntries((kind?.parameters ?? []).map((each) => [each.name, each.default]));
  const present = { ...defaults, ...editedOf(body) };
  return (
    <Dialog title="Repeat with other values" onClose={onClose}>
      {kind && <p class="muted">{kind.description}</p>}
      <Form
        key={Object.keys(present).join()}
        fields={Object.entries(present).map(([name, value]) => fieldOf(name, value, kind))}
        submit="Start"
        call={(values) => ({ ...call, body: bodyWith(body, values) })}
        onDone={() => {
          say('The disturbance has begun. A capture follows.');
          onClose();
        }}
      />
    </Dialog>
  );
}

interface ActionsProps {
  readonly capture: Capture;
}

export function CaptureActions({ capture }: ActionsProps) {
  const [repeats, setRepeats] = useState(false);
  const { id, pinned } = capture;
  const params = { id };
  const repeat = repeatCall(capture);
  const cannot = repeat === null ? 'Nobody asked for this disturbance: there is no call to repeat' : null;
  return (
    <>
      <Action call={post('captures/{id}', { params, body: { pinned: !pinned } })} pressed={pinned}>
        {pinned ? 'Pinned' : 'Pin'}
      </Action>
      <a class="button" href={`/api/sim/captures/${id}/rows?format=csv`} download={`capture-${id}.csv`}>
        CSV
      </a>
      <Menu label="More actions" face="More">
        {(closeMenu) => (
          <div class="menu-list">
            <button
              type="button"
              disabled={repeat === null}
              title={cannot ?? undefined}
              onClick={() => {
                closeMenu();
                setRepeats(true);
              }}
            >
              Repeat with…
            </button>
            {capture.state !== 'recording' && (
              <a href={href('scenarios/editor', { capture: String(id) })}>Make a scenario</a>
            )}
            <Action
              call={del('captures/{id}', { params })}
              confirm={`Delete capture ${id}?`}
              onDone={() => {
                say(`Capture ${id} deleted`);
                go('events/captures');
              }}
            >
              Delete
            </Action>
          </div>
        )}
      </Menu>
      <Action
        primary
        call={repeat ?? anyCall('POST', 'controls/grid/event')}
        unable={cannot}
        curl={repeat !== null}
        title="Makes the same disturbance again"
        onDone={() => say('The disturbance has begun. A capture follows.')}
      >
        Repeat
      </Action>
      {repeats && repeat !== null && <RepeatWith call={repeat} onClose={() => setRepeats(false)} />}
    </>
  );
}
