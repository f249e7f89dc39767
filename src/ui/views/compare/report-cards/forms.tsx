/** Names of peers, peers that are one system, and waivers. */
import { post } from '../../../api/call';
import type { BodyOf } from '../../../api/call';
import { Action } from '../../../kit/action';
import { Form } from '../../../kit/form';
import type { Field } from '../../../kit/form';
import { Panel } from '../../../kit/panel';
import { useLive } from '../../../store/live';
import { lastingId, paceMs, peersCall } from './parts';
import type { Finding, PeerEntry, Report } from './parts';

type Match = Exclude<BodyOf<'findings/peers'>['match'], readonly unknown[]>;

const matchesOf = ({ identities }: PeerEntry): Match[] =>
  identities.map(({ protocol, address, certificate }) => ({
    protocol: protocol as Match['protocol'],
    address,
    ...(certificate !== null && { certificate }),
  }));

/** Gives a peer a name, or joins another peer to it: both then have one report. */
export function NamePeer({ report }: { readonly report: Report }) {
  const { name, named } = report;
  const peers = useLive(peersCall, paceMs).data?.peers ?? [];
  const others = peers.filter(({ id }) => id !== report.id);
  const joining: Field = {
    name: 'other',
    label: 'Join with',
    kind: 'choice',
    options: others.map((other) => [lastingId(other), other.name] as const),
    hint: 'Another address of the same system: both have one report.',
  };
  return (
    <Panel title="Name">
      <Form
        fields={named ? [joining] : [{ name: 'name', label: 'Name', kind: 'text' }, joining]}
        submit={named ? 'Join' : 'Name'}
        needsChange
        call={({ name: typed = '', other }) => {
          const joined = others.filter((each) => lastingId(each) === other);
          const match = [report, ...joined].flatMap(matchesOf);
          return post('findings/peers', { body: { name: named ? name : String(typed), match } });
        }}
      >
        {named && <Action call={post('findings/peers', { body: { name, match: [] } })}>Remove the name</Action>}
      </Form>
    </Panel>
  );
}

const waiverFields: readonly Field[] = [
  { name: 'reason', label: 'Reason (required)', kind: 'text', hint: 'Each report shows it.' },
  {
    name: 'whose',
    label: 'For',
    kind: 'choice',
    value: 'this',
    options: [
      ['this', 'this peer'],
      ['all', 'all peers'],
    ],
  },
  {
    name: 'until',
    label: 'Until',
    kind: 'text',
    placeholder: '2027-01-01',
    hint: 'A date, in UTC. Empty: until the waiver is deleted.',
  },
];

/** A date alone means its first moment; other text goes to the daemon as it is typed. */
const instantOf = (text: string): string => (/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00:00Z` : text);

/** Accepts the findings of a rule, with a reason. */
export function Waive({ row: { rule, title }, report }: { readonly row: Finding; readonly report: Report }) {
  const peer = report.named ? report.name : lastingId(report);
  return (
    <details>
      <summary>
        Waive <span class="visually-hidden">{title}</span>
      </summary>
      <Form
        fields={waiverFields}
        submit="Waive"
        needsChange
        call={({ reason = '', whose, until }) =>
          post('findings/waivers', {
            body: {
              rule,
              ...(whose === 'this' && { peer }),
              reason: String(reason),
              ...(until !== undefined && { until: instantOf(String(until).trim()) }),
            },
          })
        }
      />
    </details>
  );
}
