"use client";

import { useState } from "react";
import { Plus } from "lucide-react";

import { TaskCard } from "@/components/task-card";
import { Button } from "@/components/ui/button";
import { Input } from "@/components/ui/input";
import { columns, firstTasks, tags, type Column, type Tag, type Task } from "@/lib/tasks";
import { cn } from "@/lib/utils";

export function Board() {
  const [tasks, setTasks] = useState<Task[]>(firstTasks);
  const [only, setOnly] = useState<Tag | null>(null);
  const [dragged, setDragged] = useState<number | null>(null);
  const [over, setOver] = useState<Column | null>(null);
  const [writing, setWriting] = useState<Column | null>(null);

  function move(id: number, column: Column) {
    setTasks((before) => {
      const task = before.find((one) => one.id === id);
      return task ? [...before.filter((one) => one.id !== id), { ...task, column }] : before;
    });
  }

  function add(column: Column, title: string) {
    setWriting(null);
    if (!title.trim()) return;
    setTasks((before) => [
      ...before,
      { id: Math.max(...before.map((task) => task.id)) + 1, title: title.trim(), tag: "Build", column, who: "AM" },
    ]);
  }

  return (
    <section className="flex min-h-0 flex-1 flex-col">
      <div className="flex flex-wrap gap-2 px-6 pb-5 sm:px-10">
        {[null, ...(Object.keys(tags) as Tag[])].map((tag) => (
          <Button
            key={tag ?? "all"}
            size="sm"
            variant={only === tag ? "secondary" : "ghost"}
            className="rounded-full"
            aria-pressed={only === tag}
            onClick={() => setOnly(tag)}
          >
            {tag ?? "Everything"}
          </Button>
        ))}
      </div>
      <div className="grid flex-1 snap-x auto-cols-[minmax(17rem,1fr)] grid-flow-col gap-4 scroll-px-6 overflow-x-auto px-6 pb-10 sm:px-10">
        {columns.map((column) => {
          const here = tasks.filter((task) => task.column === column.id && (!only || task.tag === only));
          return (
            <div
              key={column.id}
              onDragOver={(event) => {
                event.preventDefault();
                setOver(column.id);
              }}
              onDragLeave={() => setOver(null)}
              onDrop={() => {
                if (dragged !== null) move(dragged, column.id);
                setDragged(null);
                setOver(null);
              }}
              className={cn(
                "flex snap-start flex-col gap-3 rounded-2xl border bg-card/40 p-3 transition-colors",
                over === column.id && dragged !== null && "border-primary/50 bg-primary/5",
              )}
            >
              <div className="flex items-center gap-2.5 px-1.5 pt-1">
                <span className={cn("size-2 rounded-full", column.dot)} />
                <h2 className="text-sm font-medium">{column.title}</h2>
                <span className="text-sm text-muted-foreground tabular-nums">{here.length}</span>
                <Button
                  variant="ghost"
                  size="icon-sm"
                  className="ml-auto"
                  aria-label={`Add a task to ${column.title}`}
                  onClick={() => setWriting(column.id)}
                >
                  <Plus />
                </Button>
              </div>
              {writing === column.id && (
                <form
                  onSubmit={(event) => {
                    event.preventDefault();
                    add(column.id, String(new FormData(event.currentTarget).get("title") ?? ""));
                  }}
                >
                  <Input
                    name="title"
                    autoFocus
                    placeholder="What needs to be done?"
                    aria-label="Title of the new task"
                    onBlur={(event) => add(column.id, event.target.value)}
                    onKeyDown={(event) => event.key === "Escape" && setWriting(null)}
                  />
                </form>
              )}
              {here.map((task) => (
                <TaskCard key={task.id} task={task} onDrag={setDragged} onMove={move} lifted={dragged === task.id} />
              ))}
              {here.length === 0 && writing !== column.id && (
                <p className="m-auto rounded-xl border border-dashed px-6 py-8 text-center text-xs text-muted-foreground">
                  No tasks. Drag a card here, or add one.
                </p>
              )}
            </div>
          );
        })}
      </div>
    </section>
  );
}
