/** The messages around a case of a rule, drawn as a sequence. */
import { get } from '../../../api/call';
import type { Call } from '../../../api/call';
import { Panel } from '../../../kit/panel';
import { Sequence } from '../../../kit/sequence';
import { useLive } from '../../../store/live';
import { param, setParam } from '../../../store/route';
import { csipDrawing, dnp3Drawing, ocppDrawing } from '../../protocols/sequence/arrows';
import type { CsipMessage, Dnp3Message, Drawing, OcppMessage } from '../../protocols/sequence/arrows';
import { messageHref, sequenceHref } from '../messages';
import { placeOf } from './evidence';
import type { Finding } from './parts';

/** Messages before and after the case. */
const [beforeCount, afterCount] = [6, 6];
const paceMs = 5000;

type Place = NonNullable<ReturnType<typeof placeOf>>;

/** Place of the newest case whose message is still kept. */
export function lastPlaceOf({ evidence }: Finding): Place | null {
  return evidence.map(placeOf).findLast((place) => place !== null) ?? null;
}

/** A way to the messages of a finding, here and in the view of the protocol. */
export function FindingMessages({ row }: { readonly row: Finding }) {
  const place = lastPlaceOf(row);
  if (place === null) return null;
  const isOpen = param('finding') === row.rule;
  return (
    <>
      <p class="row">
        {place.protocol !== 'modbus' && (
          <button
            type="button"
            class="small"
            aria-expanded={isOpen}
            onClick={() => setParam('finding', isOpen ? null : row.rule)}
          >
            Messages<span class="visually-hidden"> of {row.title}</span>
          </button>
        )}
        <a href={sequenceHref(place)}>
          {place.protocol === 'modbus' ? 'Transactions' : 'All messages'}
          <span class="visually-hidden"> around {row.title}</span>
        </a>
      </p>
      {isOpen && place.protocol !== 'modbus' && <Around row={row} place={place} />}
    </>
  );
}

interface AroundProps {
  readonly row: Finding;
  readonly place: Place;
}

/** A panel of its own with the messages of a finding. */
export function FindingSequence({ row, place }: AroundProps) {
  return (
    <Panel title={`Broken: ${row.title}`} flush tools={<a href={sequenceHref(place)}>All messages</a>}>
      <Around row={row} place={place} />
    </Panel>
  );
}

interface Answer {
  readonly messages: readonly { readonly id: number }[];
}

function callOf({ protocol, key, id }: Place): Call<Answer> {
  const query = { after_id: Math.max(0, id - beforeCount - 1), to_id: id + afterCount };
  if (protocol === 'ocpp') return get('ocpp/{id}/messages', { params: { id: key }, query });
  return protocol === 'csip' ? get('csip/messages', { query }) : get('dnp3/messages', { query });
}

function drawingOf({ protocol, key, id }: Place, messages: Answer['messages'], text: string): Drawing {
  const broken = new Map([[id, text]]);
  if (protocol === 'ocpp') return ocppDrawing(messages as readonly OcppMessage[], key, 'Central system', broken);
  return protocol === 'csip'
    ? csipDrawing(messages as readonly CsipMessage[], broken)
    : dnp3Drawing(messages as readonly Dnp3Message[], broken);
}

function Around({ row, place }: AroundProps) {
  const { data } = useLive(callOf(place), paceMs);
  const near = data?.messages ?? [];
  const { lifelines, arrows } = drawingOf(place, near, row.text ?? row.title);
  return (
    <Sequence
      label={`Messages of ${row.title}`}
      lifelines={lifelines}
      arrows={arrows}
      chosen={place.id}
      onChoice={(id) => (location.hash = messageHref({ ...place, id }))}
      empty={data === undefined ? 'The messages are not read yet.' : 'The messages are no longer kept.'}
    />
  );
}
