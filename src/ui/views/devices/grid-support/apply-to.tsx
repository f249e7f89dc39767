/** Sends the curve of a device to other devices, one after the other. */
import { useState } from 'preact/hooks';
import { perform, Problem } from '../../../api/call';
import type { Call } from '../../../api/call';
import { CallLine } from '../../../kit/api-switch';
import { deviceLabel } from '../../../kit/choices';
import { Dialog } from '../../../kit/panel';
import { refresh } from '../../../store/live';
import { useOverview } from '../../../store/site';
import type { DeviceEntry } from '../../../store/site';
import { figuresOf } from '../../../store/stream';
import { conditionOf } from '../condition';
import { filtered } from '../map/filter';

/** The call of a device as that of another one. */
export function callTo({ address, ...call }: Call, device: number): Call {
  const { pathname, searchParams } = new URL(address, location.origin);
  searchParams.set('device', String(device));
  return { ...call, address: `${pathname}?${searchParams.toString()}` };
}

interface Refusal {
  readonly device: DeviceEntry;
  readonly reason: string;
}

interface Progress {
  readonly done: number;
  readonly of: number;
  readonly refusals: readonly Refusal[];
}

interface ApplyToProps {
  /** of the edited device */
  readonly call: Call;
  readonly device: number;
  /** called when the edited device is among those that have taken the curve */
  readonly onOwn: () => void;
}

/** A button that opens the choice of devices. */
export function ApplyTo(props: ApplyToProps) {
  const [isOpen, setOpen] = useState(false);
  const devices = useOverview()?.devices ?? [];
  if (devices.length < 2) return null;
  return (
    <>
      <button type="button" onClick={() => setOpen(true)}>
        Apply to…
      </button>
      {isOpen && <ApplyDialog {...props} devices={devices} onClose={() => setOpen(false)} />}
    </>
  );
}

/** Sends the call to the devices in order. */
async function sendTo(devices: readonly DeviceEntry[], call: Call, onProgress: (progress: Progress) => void) {
  const refusals: Refusal[] = [];
  for (const [index, device] of devices.entries()) {
    try {
      await perform(callTo(call, device.device_index));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      refusals.push({ device, reason: error.message });
    }
    onProgress({ done: index + 1, of: devices.length, refusals: [...refusals] });
  }
  refresh();
  return refusals;
}

interface ApplyDialogProps extends ApplyToProps {
  readonly devices: readonly DeviceEntry[];
  readonly onClose: () => void;
}

function ApplyDialog({ call, device, onOwn, devices, onClose }: ApplyDialogProps) {
  const kind = devices.find(({ device_index }) => device_index === device)?.asset_type ?? '';
  const [filter, setFilter] = useState('');
  const [isSameKind, setSameKind] = useState(true);
  const [progress, setProgress] = useState<Progress | null>(null);
  const eligible = devices.filter(({ asset_type }) => !isSameKind || asset_type === kind);
  const conditions = eligible.map((each) => conditionOf(each, figuresOf(each.device_index)));
  const chosen = filtered(conditions, filter).map((condition) => condition.device);
  const isBusy = progress !== null && progress.done < progress.of;
  const send = async () => {
    const refusals = await sendTo(chosen, call, setProgress);
    const isOwn = (each: DeviceEntry) => each.device_index === device;
    if (chosen.some(isOwn) && !refusals.some((refusal) => isOwn(refusal.device))) onOwn();
  };
  return (
    <Dialog title="Apply to other devices" onClose={onClose}>
      <label class="row">
        <span class="muted">Devices</span>
        <input
          type="search"
          name="apply-to"
          title="A name, a kind, a range such as 20-35, a state such as :tripped"
          value={filter}
          disabled={isBusy}
          onInput={(event) => {
            setFilter(event.currentTarget.value);
            setProgress(null);
          }}
        />
      </label>
      <label class="row">
        <input
          type="checkbox"
          name="same-kind"
          checked={isSameKind}
          disabled={isBusy}
          onChange={(event) => {
            setSameKind(event.currentTarget.checked);
            setProgress(null);
          }}
        />
        Of the same kind only
      </label>
      <p class="muted">{listed(chosen)}</p>
      <div class="row">
        <button type="button" class="primary" disabled={isBusy || chosen.length === 0} onClick={() => void send()}>
          {`Apply to ${countText(chosen.length)}`}
        </button>
        {chosen[0] && <CallLine call={callTo(call, chosen[0].device_index)} />}
      </div>
      {progress !== null && <Outcome {...progress} />}
    </Dialog>
  );
}

const countText = (count: number) => `${count} device${count === 1 ? '' : 's'}`;
const maxNamed = 8;

function listed(devices: readonly DeviceEntry[]): string {
  if (devices.length === 0) return 'No device matches.';
  const more = devices.length - maxNamed;
  return devices.slice(0, maxNamed).map(deviceLabel).join(', ') + (more > 0 ? ` and ${more} more` : '');
}

function Outcome({ done, of, refusals }: Progress) {
  return (
    <div role="status">
      <p>
        {done < of ? `${done} of ${of} sent` : `${countText(of - refusals.length)} took it, ${refusals.length} refused`}
      </p>
      <ul class="failures" aria-label="Refusals">
        {refusals.map(({ device, reason }) => (
          <li key={device.device_index} class="problem">
            {deviceLabel(device)}: {reason}
          </li>
        ))}
      </ul>
    </div>
  );
}
