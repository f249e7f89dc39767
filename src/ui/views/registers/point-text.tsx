/** Formats points: value with symbol and unit, raw registers, writer and age. */
import { useEffect, useRef, useState } from 'preact/hooks';
import { dash } from '../../look/format';
import type { RegisterPoint } from './calls';

const units: Readonly<Record<string, string>> = {
  Pct: '%',
  Secs: 's',
  Sec: 's',
  Var: 'var',
  C: '°C',
  Tms: 's',
};

/** Units of the standard as engineers write them. */
function unitText(unit: string | null): string {
  return unit === null ? '' : (units[unit] ?? unit);
}

function bitsText(value: number): string {
  const bits: number[] = [];
  for (let bit = 0; bit < 32; bit += 1) if (Math.floor(value / 2 ** bit) % 2 === 1) bits.push(bit);
  return bits.length === 0 ? 'no bit set' : `bit ${bits.join(', ')}`;
}

/** Value as text with the decimals of its scale factor; a dash without a value. */
export function valueText({ value, symbol, unit, scale_factor: scale, type }: RegisterPoint): string {
  if (value === null) return dash;
  if (typeof value === 'string') return value === '' ? '""' : value;
  if (symbol !== undefined && symbol !== null) return `${symbol} (${value})`;
  if (type.startsWith('bitfield')) return `0x${value.toString(16)} (${bitsText(value)})`;
  const text = scale !== null && scale < 0 ? value.toFixed(Math.min(-scale, 8)) : String(value);
  return `${text} ${unitText(unit)}`.trim();
}

export function rawText(raw: readonly number[] | undefined | null): string {
  return raw?.map((register) => register.toString(16).padStart(4, '0')).join(' ') ?? dash;
}

/** Simulated time since a write. */
export function ageText(changedAt: string | null, simTime: string | undefined): string {
  if (changedAt === null || simTime === undefined) return dash;
  const seconds = Math.max(0, Math.round((Date.parse(simTime) - Date.parse(changedAt)) / 1000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} d`;
}

/** A text that flashes when it changes. */
export function Flashing({ text }: { readonly text: string }) {
  const before = useRef(text);
  const [changes, setChanges] = useState(0);
  useEffect(() => {
    if (before.current === text) return;
    before.current = text;
    setChanges((count) => count + 1);
  }, [text]);
  return (
    <span key={changes} class={changes > 0 ? 'flash' : undefined}>
      {text}
    </span>
  );
}
