/** State of the devices that survives the process. */
export interface Keeping {
  /** Saves what has changed of one device (null: of all) and of the parts they share. @returns null: nothing to wait for */
  commit(deviceIndex: number | null): Promise<void> | null;
}
