export * from '../contract/store.ts';
export * from '../contract/fault.ts';
export * from '../contract/views.ts';
