import { useState } from 'preact/hooks';
import { anyCall } from '../../api/call';
import type { Call } from '../../api/call';
import { perform, Problem } from '../../api/perform';
import { Curl, Refused } from '../../kit/action';
import { Dialog } from '../../kit/dialog';
import { Chip } from '../../kit/panel';
import { refresh } from '../../store/live';
import { byModel, canPutBack, isSetOne, restoringCalls } from './start-values';
import type { Change, ModelReply, Restoring } from './start-values';

/** Reads the other points of set 1 where they are needed. */
async function readCalls(device: number, rows: readonly Change[]): Promise<readonly Restoring[]> {
  const models = [...byModel(rows.filter(isSetOne)).keys()];
  const replies = await Promise.all(
    models.map(async (model) => {
      const call = anyCall('GET', `registers/${model}`, { device }) as Call<ModelReply>;
      return [model, await perform(call)] as const;
    }),
  );
  return restoringCalls(device, rows, new Map(replies));
}

interface PutAllBackProps {
  readonly device: number;
  readonly rows: readonly Change[];
}

/** Restores all start values: shows the calls first, then the result of each. */
export function PutAllBack({ device, rows }: PutAllBackProps) {
  const [calls, setCalls] = useState<readonly Restoring[] | null>(null);
  const [problem, setProblem] = useState<Problem | null>(null);
  const possible = rows.filter(canPutBack);
  const open = async () => {
    try {
      setCalls(await readCalls(device, possible));
      setProblem(null);
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      setProblem(error);
    }
  };
  return (
    <>
      <button type="button" disabled={possible.length === 0} onClick={() => void open()}>
        Put all back
      </button>
      <Refused problem={problem} />
      {calls && <Calls calls={calls} left={rows.length - possible.length} onClose={() => setCalls(null)} />}
    </>
  );
}

interface CallsProps {
  readonly calls: readonly Restoring[];
  /** number of points that no call can restore */
  readonly left: number;
  readonly onClose: () => void;
}

type Outcome = 'done' | Problem;

function Calls({ calls, left, onClose }: CallsProps) {
  const [outcomes, setOutcomes] = useState<readonly Outcome[]>([]);
  const [busy, setBusy] = useState(false);
  const refused = outcomes.filter((outcome) => outcome !== 'done').length;
  const run = async () => {
    setBusy(true);
    const seen: Outcome[] = [];
    // one after the other, in the displayed order
    for (const { call } of calls) {
      try {
        await perform(call);
        seen.push('done');
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        seen.push(error);
      }
      setOutcomes([...seen]);
    }
    setBusy(false);
    refresh();
  };
  const isOver = outcomes.length === calls.length;
  return (
    <Dialog title="Put all back" onClose={onClose}>
      <p class="muted">Each call is carried out whole or not at all; one that is refused does not stop the next.</p>
      <ol class="restoring">
        {calls.map(({ title, call }, index) => {
          const outcome = outcomes[index];
          return (
            <li key={title}>
              <div class="row">
                {title} <Curl call={call} />
                {outcome !== undefined && (
                  <Chip tone={outcome === 'done' ? 'good' : 'bad'}>{outcome === 'done' ? 'put back' : 'refused'}</Chip>
                )}
              </div>
              {outcome !== undefined && outcome !== 'done' && <Refused problem={outcome} />}
            </li>
          );
        })}
      </ol>
      {left > 0 && <p class="muted">{left} points were written by the device itself, and stay.</p>}
      <div class="row">
        <button type="button" class="primary" disabled={busy || isOver} onClick={() => void run()}>
          Make {calls.length} {calls.length === 1 ? 'call' : 'calls'}
        </button>
        {isOver && (
          <span role="status">
            {refused === 0 ? 'All start values are back.' : `${refused} of ${calls.length} refused.`}
          </span>
        )}
      </div>
    </Dialog>
  );
}
