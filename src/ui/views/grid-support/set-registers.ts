/** Registers of a set in a curve or control model, other than the points of its curve. */
const registers: Readonly<Record<string, string>> = {
  dept_ref: 'DeptRef',
  priority: 'Pri',
  response_time_s: 'RspTms',
  v_ref_pct: 'VRef',
  v_ref_auto_enabled: 'VRefAutoEna',
  v_ref_auto_time_s: 'VRefAutoTms',
  p_min_pct: 'PMin',
  db_uf_hz: 'DbUf',
  db_of_hz: 'DbOf',
  k_uf: 'KUf',
  k_of: 'KOf',
};

/** Register of a member of `grid-support`, within the set. undefined: sets have no such value. */
export function registerOfMember(member: string): string | undefined {
  return registers[member];
}

/** Member of `grid-support` for a register. @param register within the set */
export function memberOfRegister(register: string): string | undefined {
  return Object.keys(registers).find((member) => registers[member] === register);
}

/** Converts a value to its register: enumerations by symbol. */
export function registerValue(value: unknown): unknown {
  if (typeof value === 'boolean') return value ? 'ENABLED' : 'DISABLED';
  return typeof value === 'string' ? value.toUpperCase() : value;
}

/** Converts a value to the member of `grid-support`. */
export function memberValue(value: unknown): unknown {
  if (value === 'ENABLED' || value === 'DISABLED') return value === 'ENABLED';
  return typeof value === 'string' ? value.toLowerCase() : value;
}
