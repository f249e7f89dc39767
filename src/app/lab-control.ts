/** The running lab as a configuration, and another lab in its place. */
import { isDeepStrictEqual } from 'node:util';
import { whyNoMapping } from '../config/layers/files.ts';
import type { AppConfig } from '../config/settings/app-config.ts';
import { settingKeys } from '../config/settings/settings.ts';
import type { SettingKey } from '../config/settings/settings.ts';
import type { LabConfig, LabContent, LabControl, PreparedLab } from '../contract/lab-config.ts';
import { errorText, misfitText, SimError } from '../core/errors.ts';
import type { Logger } from '../core/log/log.ts';
import { slotName } from '../core/store.ts';
import type { JsonValue } from '../core/store.ts';
import { LoopShare, Turns, yieldToLoop } from '../core/turns.ts';
import { parsingYaml } from '../core/yaml.ts';
import type { Contents } from '../state/contents.ts';
import { areaOf } from '../state/slots.ts';
import { requestIssue, withoutFolders } from './request-issues.ts';
import type { AppOptions } from './start-stop.ts';
import type { State } from './state.ts';

/** Content of the configuration of a lab that a request has loaded; none: the lab of the start. */
const labSlot = slotName('lab', 'content');

/** Areas of the state that a lab leaves to the next one. */
const lastingAreas: readonly string[] = ['certificates', 'scenarios'];

/** The lab of a content in the process of another one, which has the HTTP interface and the state folder. */
function labIn(start: AppConfig, content: LabContent): AppConfig {
  return { ...start.settings.lab(content), web: start.web, stateDir: start.stateDir };
}

/** The lab that an earlier request has loaded, or that of the start. */
export function loadedLab(
  start: AppConfig,
  state: Pick<State, 'values'>,
  log: Pick<Logger, 'info' | 'warning'>,
): AppConfig {
  const [content] = state.values(labSlot);
  if (content === undefined) return start;
  try {
    const lab = labIn(start, content as LabContent);
    log.info('the lab is the one that POST config has loaded, not that of the start');
    return lab;
  } catch (error) {
    log.warning(`the lab that POST config has loaded cannot be used, and that of the start is: ${misfitText(error)}`);
    return start;
  }
}

interface LabControlOptions {
  /** configuration of the start */
  readonly start: AppConfig;
  /** value in force of a setting, also one that a request has changed */
  readonly valueOf: (key: SettingKey) => JsonValue;
  readonly current: () => LabConfig;
  readonly state: Pick<State, 'contents'>;
  /** changes by requests that the state does not keep */
  readonly unkept: Contents;
  readonly log: Pick<Logger, 'info'>;
  /** Builds a simulator with a state, and drops it. @throws SimError CONFIG_INVALID */
  readonly tryToBuild: (config: AppConfig, contents: Contents) => void;
  /** True once the simulator stops. */
  readonly isEnding: () => boolean;
  /** undefined: this simulator cannot be built anew */
  readonly onRestart: AppOptions['onRestartRequest'];
}

/** Further labs are refused, since a large one takes the processor for a second. */
const maxWaiting = 3;

export function createLabControl(options: LabControlOptions): LabControl {
  const { start, valueOf, current, state, log, tryToBuild, isEnding, onRestart } = options;
  const turns = new Turns();
  const lasting = () => [...state.contents()].filter(([slot]) => lastingAreas.includes(areaOf(slot)));
  const prepare = (content: LabContent | null): PreparedLab => {
    const lab = checked(start.settings.files, () => {
      const next = content === null ? start : labIn(start, content);
      tryToBuild({ ...next, stateDir: null }, new Map(lasting()));
      return next;
    });
    return {
      devices: lab.devices.length,
      changes: settingKeys.filter((key) => !isDeepStrictEqual(lab.settings.values[key], valueOf(key))),
      notices: [...lab.notices, ...lab.unused],
      begin:
        onRestart === undefined
          ? null
          : (reason) => {
              log.info(`restarting with ${content === null ? 'the lab of the start' : 'another lab'}: ${reason}`);
              const loaded: Contents = new Map(content === null ? [] : [[labSlot, [JSON.stringify(content)]]]);
              const contents = new Map([...lasting(), ...loaded]);
              onRestart({ reason, contents, former: new Map([...state.contents(), ...options.unkept]) });
            },
    };
  };
  return {
    current,
    read: contentOf,
    async prepare(content) {
      if (turns.waiting >= maxWaiting)
        throw new SimError('COMMAND_QUEUE_FULL', `${maxWaiting} other labs wait to be checked already`);
      return turns.take(async () => {
        // ticks and other requests come between two labs
        await yieldToLoop();
        if (isEnding()) throw new SimError('STOPPING', 'the simulator is stopping');
        return prepare(content);
      });
    },
  };
}

function noContent(detail: string): SimError {
  return new SimError('COMMAND_BAD_VALUE', 'the text is no configuration', [{ name: '/yaml', detail }]);
}

/** A text is parsed in turns with other work. */
const loopShare = new LoopShare();

/** @throws SimError COMMAND_BAD_VALUE */
async function contentOf(yaml: string): Promise<LabContent> {
  let value: unknown;
  try {
    value = await loopShare.runInParts(parsingYaml(yaml));
  } catch (error) {
    throw noContent(`cannot be parsed: ${error instanceof RangeError ? 'nested too deeply' : errorText(error)}`);
  }
  const reason = whyNoMapping(value);
  if (reason !== null) throw noContent(reason);
  return value as LabContent;
}

/** @param files those that a lab may name @throws SimError COMMAND_BAD_VALUE in place of CONFIG_INVALID */
function checked<T>(files: ReadonlySet<string>, build: () => T): T {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof SimError) || error.code !== 'CONFIG_INVALID') throw error;
    throw new SimError('COMMAND_BAD_VALUE', error.message, withoutFolders(error.issues, files).map(requestIssue));
  }
}
