/** The thresholds of the devices of a capture, each once with the devices that have it. */
import type { CaptureThreshold } from '../contract/captures.ts';
import { categoryWord, isVoltage } from './facts.ts';
import type { DeviceFacts, Limit } from './facts.ts';
import { plain, spanText } from './words.ts';

type Threshold = Omit<CaptureThreshold, 'devices' | 'text'>;

function thresholdsOfDevice({ category, trips, cessations }: DeviceFacts): readonly Threshold[] {
  const of = (limits: readonly Limit[], action: Threshold['action']) =>
    limits.map(
      ({ name, value, seconds }): Threshold => ({
        function: name,
        action,
        quantity: isVoltage(name) ? 'voltage' : 'frequency',
        value,
        timeS: seconds,
        category: categoryWord(category),
      }),
    );
  return [...of(trips, 'trip'), ...of(cessations, 'cessation')];
}

function textOf({ action, quantity, value, timeS, category }: Threshold, isMixed: boolean): string {
  const at = quantity === 'voltage' ? (value / 100).toFixed(2) : `${plain(value, 2)} Hz`;
  const does = action === 'cessation' ? 'ceases' : `trips after ${spanText(timeS)}`;
  return `${at} ${does}${isMixed && category !== null ? ` (${category})` : ''}`;
}

export function thresholdsOf(devices: readonly DeviceFacts[]): readonly CaptureThreshold[] {
  const isMixed = new Set(devices.map(({ category }) => category)).size > 1;
  const byKey = new Map<string, { readonly threshold: Threshold; readonly devices: number[] }>();
  for (const facts of devices) {
    for (const threshold of thresholdsOfDevice(facts)) {
      const key = JSON.stringify(threshold);
      const entry = byKey.get(key) ?? { threshold, devices: [] };
      byKey.set(key, entry);
      if (entry.devices.at(-1) !== facts.index) entry.devices.push(facts.index);
    }
  }
  return [...byKey.values()].map(({ threshold, devices: holders }) => ({
    ...threshold,
    devices: holders,
    text: textOf(threshold, isMixed),
  }));
}
