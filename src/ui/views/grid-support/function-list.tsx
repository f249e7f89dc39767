import { anyCall } from '../../api/call';
import { Curl, Refused, useDo } from '../../kit/action';
import { Chip, Panel } from '../../kit/panel';
import { show, timeOfDay } from '../../look/format';
import { href } from '../../store/route';
import { hasDraft } from './drafts';
import { functions, pathOf } from './functions';
import type { FunctionEntry, Settings } from './functions';
import type { Controls } from './sentence';

type Mode = Controls['modes'][keyof Controls['modes']];

interface ListProps {
  readonly device: number;
  readonly all: Readonly<Record<string, Settings | undefined>>;
  readonly controls: Controls | undefined;
  readonly chosen: string;
}

/** All functions with switch, state and writer. */
export function FunctionList({ device, all, controls, chosen }: ListProps) {
  return (
    <Panel title="Functions" flush>
      <ul class="functions" aria-label="Functions">
        {functions.map((entry) => (
          <Row
            key={entry.name}
            device={device}
            entry={entry}
            settings={all[entry.name]}
            mode={controls?.modes[entry.mode]}
            chosen={entry.name === chosen}
          />
        ))}
      </ul>
    </Panel>
  );
}

interface RowProps {
  readonly device: number;
  readonly entry: FunctionEntry;
  readonly settings: Settings | undefined;
  readonly mode: Mode | undefined;
  readonly chosen: boolean;
}

function Row({ device, entry: { name, title, model }, settings, mode, chosen }: RowProps) {
  const { busy, problem, run } = useDo();
  const supported = settings?.['supported'] === true;
  const enabled = settings?.['enabled'] === true;
  const call = anyCall('POST', `grid-support/${pathOf(name)}`, { device }, { enabled: !enabled });
  return (
    <li class={chosen ? 'chosen' : undefined} data-function={name}>
      <div class="row">
        <input
          type="checkbox"
          role="switch"
          aria-label={`${title} enabled`}
          checked={enabled}
          disabled={!supported || busy || name === 'ramp'}
          onClick={(event) => {
            event.preventDefault();
            void run(call);
          }}
        />
        <a href={href(`grid-support/${pathOf(name)}`)} aria-current={chosen ? 'true' : undefined}>
          {title}
        </a>
        <span class="muted">{model}</span>
        {supported && name !== 'ramp' && <Curl call={call} />}
      </div>
      <div class="row note">
        {supported ? (
          <State mode={mode} enabled={enabled} />
        ) : (
          <span class="muted">this device has no such function</span>
        )}
        {hasDraft(device, name) && <Chip tone="warn">draft</Chip>}
      </div>
      <Refused problem={problem} />
    </li>
  );
}

function State({ mode, enabled }: { readonly mode: Mode | undefined; readonly enabled: boolean }) {
  const tone = mode?.active ? 'good' : enabled ? 'muted' : 'off';
  return (
    <>
      <Chip tone={tone}>{mode?.active ? 'active' : enabled ? 'on, does not act' : 'off'}</Chip>
      <span class="muted" title={mode?.source_detail ?? undefined}>
        {mode?.source ?? ''}
        {mode?.changed_at ? ` ${timeOfDay(mode.changed_at)}` : ''}
      </span>
      {mode?.reversion_remaining_s != null && <span>reverts in {show(mode.reversion_remaining_s, 'seconds')}</span>}
    </>
  );
}
