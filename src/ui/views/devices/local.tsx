import { get, post } from '../../api/call';
import { Action, Refused } from '../../kit/action';
import { Chip, Facts, Panel } from '../../kit/panel';
import { useLive } from '../../store/live';
import { Writer } from '../inputs/scope';

/** The local/remote switch of the device. */
export function LocalPanel({ device }: { readonly device: number }) {
  const query = { device };
  const { data, problem } = useLive(get('controls/local', { query }));
  const isLocal = data?.local ?? false;
  return (
    <Panel title="Local/remote switch">
      <div class="stack">
        <Facts
          rows={[
            ['Position', <Chip tone={isLocal ? 'warn' : 'good'}>{isLocal ? 'local' : 'remote'}</Chip>],
            ['Set by', <Writer by={data?.changed_by} />],
          ]}
        />
        <p class="muted">In position local the device refuses remote writes and commands.</p>
        <Action call={post('controls/local', { query, body: { local: !isLocal } })} disabled={!data}>
          {isLocal ? 'Switch to remote' : 'Switch to local'}
        </Action>
        <Refused problem={problem} />
      </div>
    </Panel>
  );
}
