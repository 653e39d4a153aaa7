"use client";

import { CalendarDays, GripVertical, MessageSquare } from "lucide-react";

import { Avatar, AvatarFallback } from "@/components/ui/avatar";
import { Badge } from "@/components/ui/badge";
import { Button } from "@/components/ui/button";
import {
  DropdownMenu,
  DropdownMenuContent,
  DropdownMenuItem,
  DropdownMenuLabel,
  DropdownMenuTrigger,
} from "@/components/ui/dropdown-menu";
import { columns, tags, type Column, type Task } from "@/lib/tasks";
import { cn } from "@/lib/utils";

type TaskCardProps = {
  task: Task;
  lifted: boolean;
  onDrag: (id: number | null) => void;
  onMove: (id: number, column: Column) => void;
};

export function TaskCard({ task, lifted, onDrag, onMove }: TaskCardProps) {
  return (
    <article
      draggable
      onDragStart={() => onDrag(task.id)}
      onDragEnd={() => onDrag(null)}
      className={cn(
        "group cursor-grab rounded-xl border bg-card p-4 shadow-sm transition-[border-color,box-shadow,opacity] hover:border-primary/40 hover:shadow-lg active:cursor-grabbing",
        lifted && "opacity-40",
      )}
    >
      <div className="flex items-center justify-between">
        <Badge variant="secondary" className={tags[task.tag]}>
          {task.tag}
        </Badge>
        <DropdownMenu>
          <DropdownMenuTrigger asChild>
            <Button
              variant="ghost"
              size="icon-sm"
              className="-mr-2 opacity-50 group-hover:opacity-100"
              aria-label="Move the task"
            >
              <GripVertical />
            </Button>
          </DropdownMenuTrigger>
          <DropdownMenuContent align="end">
            <DropdownMenuLabel>Move to</DropdownMenuLabel>
            {columns
              .filter((column) => column.id !== task.column)
              .map((column) => (
                <DropdownMenuItem key={column.id} onSelect={() => onMove(task.id, column.id)}>
                  <span className={cn("size-2 rounded-full", column.dot)} />
                  {column.title}
                </DropdownMenuItem>
              ))}
          </DropdownMenuContent>
        </DropdownMenu>
      </div>
      <h3
        className={cn(
          "mt-3 text-sm leading-snug font-medium",
          task.column === "done" && "text-muted-foreground line-through",
        )}
      >
        {task.title}
      </h3>
      <div className="mt-4 flex items-center gap-3 text-xs text-muted-foreground">
        {task.due && (
          <span className="flex items-center gap-1.5">
            <CalendarDays className="size-3.5" />
            {task.due}
          </span>
        )}
        {task.talk && (
          <span className="flex items-center gap-1.5">
            <MessageSquare className="size-3.5" />
            {task.talk}
          </span>
        )}
        <Avatar className="ml-auto size-6">
          <AvatarFallback className="text-[0.6rem]">{task.who}</AvatarFallback>
        </Avatar>
      </div>
    </article>
  );
}
