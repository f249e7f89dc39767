import { get, post } from '../../../api/call';
import type { ReplyOf } from '../../../api/call';
import { Messages } from '../../../kit/messages';
import { Facts } from '../../../kit/panel';
import { dash, fixed, wallTime } from '../../../look/format';
import { param, setParam } from '../../../store/route';
import { useLive } from '../../../store/live';
import { csipDrawing } from '../sequence/arrows';
import { useBroken } from '../sequence/broken';
import type { PartProps } from './state';

/** XML with one element per line, indented; other text unchanged. */
export function prettyXml(text: string): string {
  if (!/^\s*</.test(text)) return text;
  let depth = 0;
  const lines: string[] = [];
  for (const piece of text.replace(/>\s*</g, '>\n<').split('\n')) {
    if (piece.startsWith('</')) depth = Math.max(0, depth - 1);
    lines.push('  '.repeat(depth) + piece);
    const opens = /^<[^!?/]/.test(piece) && !piece.endsWith('/>') && !piece.includes('</');
    if (opens) depth += 1;
  }
  return lines.join('\n');
}

type Message = ReplyOf<'csip/messages'>['messages'][number];
const methods = ['GET', 'PUT', 'POST', 'DELETE'] as const;

/** Recorded requests and answers. */
export const CsipMessages = ({ device }: PartProps) => <MessageList device={device} isDrawn={false} />;

/** The same between the client and the lanes of its server. */
export const CsipSequence = ({ device }: PartProps) => <MessageList device={device} isDrawn />;

function MessageList({ device, isDrawn }: Pick<PartProps, 'device'> & { readonly isDrawn: boolean }) {
  const broken = useBroken('csip');
  const { data } = useLive(get('csip/messages', { query: { device, limit: 1 } }), 2000);
  const method = methods.find((each) => each === param('method'));
  const read = (afterId: number | undefined) =>
    get('csip/messages', {
      query: { device, limit: 500, ...(method && { method }), ...(afterId !== undefined && { after_id: afterId }) },
    });
  return (
    <Messages<Message>
      title="Messages"
      name="csip"
      read={read}
      recording={{
        enabled: data?.enabled,
        on: post('csip/messages', { body: { enabled: true } }),
        off: post('csip/messages', { body: { enabled: false } }),
      }}
      tools={() => (
        <select
          aria-label="Method"
          value={method ?? ''}
          onChange={(event) => setParam('method', event.currentTarget.value)}
        >
          <option value="">all methods</option>
          {methods.map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
      )}
      columns={[
        { title: 'Time', cell: (each) => wallTime(each.timestamp), value: (each) => each.timestamp },
        { title: 'Direction', value: ({ direction }) => direction },
        { title: 'Method', value: (each) => each.method },
        { title: 'Address', cell: ({ url }) => <code>{url}</code>, value: ({ url }) => url },
        { title: 'Status', numeric: true, value: ({ status }) => status },
        { title: 'ms', numeric: true, cell: (each) => fixed(each.duration_ms, 1), value: (each) => each.duration_ms },
        {
          title: 'Content',
          cell: (each) => each.error ?? /<(\w[\w:]*)/.exec(each.response_body ?? each.request_body ?? '')?.[1] ?? dash,
        },
      ]}
      textOf={(each) => `${each.method} ${each.url} ${each.request_body ?? ''} ${each.response_body ?? ''}`}
      detail={(message) => <Detail message={message} broken={broken.get(message.id)} />}
      {...(isDrawn && { drawing: (messages) => csipDrawing(messages, broken) })}
      empty={
        data?.enabled === true
          ? 'No message yet. The recording is on; Poll in State sends some.'
          : 'No message is recorded: press Record, then Poll in State.'
      }
    />
  );
}

interface DetailProps {
  readonly message: Message;
  /** the rule that the message broke */
  readonly broken: string | undefined;
}

function Detail({ message, broken }: DetailProps) {
  const sides = [
    ['Request', message.request_headers, message.request_body],
    ['Answer', message.response_headers, message.response_body],
  ] as const;
  return (
    <div class="stack">
      <Facts
        rows={[
          ['Request', `${message.method} ${message.url}`],
          ['Status', message.status ?? dash],
          ['Peer', message.peer],
          ['Error', message.error ?? dash],
          broken === undefined ? null : ['Broken rule', <span class="issue">{broken}</span>],
          message.truncated ? ['Cut', 'the recorder keeps the beginning only'] : null,
        ]}
      />
      <div class="split">
        {sides.map(([title, headers, body]) => (
          <div key={title} class="stack">
            <h3>{title}</h3>
            <pre>
              {Object.entries(headers)
                .map(([name, value]) => `${name}: ${value}`)
                .join('\n')}
            </pre>
            <pre class="scroller raw" tabIndex={0} aria-label={`${title}: body`}>
              {body === null ? 'no body' : prettyXml(body)}
            </pre>
          </div>
        ))}
      </div>
    </div>
  );
}
