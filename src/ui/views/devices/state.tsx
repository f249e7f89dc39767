/** The state of a device in the words of its kind. */
import { Chip } from '../../kit/panel';
import type { Tone } from '../../kit/panel';
import type { DeviceEntry } from '../../store/site';

type Word = DeviceEntry['kind_state'];

const tones: Readonly<Record<Word, Tone>> = {
  tripped: 'bad',
  fault: 'bad',
  'waits to enter service': 'warn',
  'out of service': 'off',
  'momentary cessation': 'bad',
  stops: 'warn',
  starts: 'warn',
  producing: 'good',
  limited: 'warn',
  night: 'muted',
  'too little wind': 'muted',
  'too much wind': 'warn',
  charging: 'good',
  'charging, forced': 'good',
  discharging: 'good',
  'discharging, forced': 'good',
  resting: 'muted',
  'resting, forced': 'muted',
  full: 'muted',
  empty: 'muted',
  idle: 'muted',
  electrolysis: 'good',
  'changes direction': 'warn',
  'tank empty': 'warn',
  'tank full': 'warn',
  'no vehicle': 'muted',
  'waits for authorisation': 'warn',
  paused: 'warn',
  'session over': 'muted',
};

type Condition = Pick<DeviceEntry, 'kind_state' | 'limited_by'>;

/** A device at work that a limit holds is limited too: `charging, limited`. */
export function stateOf({ kind_state: word, limited_by: limit }: Condition): { word: string; tone: Tone } {
  const tone = tones[word];
  return limit !== null && tone === 'good' ? { word: `${word}, limited`, tone: 'warn' } : { word, tone };
}

export function KindState({ device }: { readonly device: DeviceEntry }) {
  const { word, tone } = stateOf(device);
  return (
    <Chip tone={tone}>
      <span data-test="device-state">{word}</span>
    </Chip>
  );
}
